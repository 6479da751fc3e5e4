"""What the project measures itself by; not part of the package."""
