// The TypeScript SDK's client, 1.x (its own schemas, strict) and 2.x: node sdk.mjs 1|2 PYTHON SERVER DOCS
// Prints one JSON object: the tools' names and what each request answered.
const [major, python, server, docs] = process.argv.slice(2);
const [{ Client }, { StdioClientTransport }] = major === "1"
  ? [await import("@modelcontextprotocol/sdk/client/index.js"), await import("@modelcontextprotocol/sdk/client/stdio.js")]
  : [await import("@modelcontextprotocol/client"), await import("@modelcontextprotocol/client/stdio")];

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({
  command: python, args: [server], env: { ...process.env, PGDOCS_DOCS: docs },
}));
const { tools } = await client.listTools();
const call = async (name, args) => client.callTool({ name, arguments: args });
const found = await call("search_docs", { query: "first row of each group" });
const wrong = await call("search_docs", { q: "x" });
const { contents } = await client.readResource({ uri: "pgdocs://docs/pg/sql-select" });
const { messages } = await client.getPrompt({ name: "explain_feature", arguments: { feature: "recursive queries" } });
const { completion } = await client.complete({
  ref: { type: "ref/resource", uri: "pgdocs://docs/{source}/{slug}" },
  argument: { name: "slug", value: "ST_" }, context: { arguments: { source: "postgis" } },
});
const templates = (await client.listResourceTemplates()).resourceTemplates;
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name), found: found.content[0].text, wrong: wrong.isError && wrong.content[0].text,
  page: contents[0].text, prompt: messages[0].content.text, slugs: completion.values,
  templates: templates.map((template) => template.uriTemplate), server: client.getServerVersion(),
}));
await client.close();
