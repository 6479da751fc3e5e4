"""What the guard knows: classes of words, and the sentences that an attack makes of them. Plain data, no code.

A rule reads left to right. A NAME is a class, other words are meant literally (`a|b`: either), `..n` lets up to n
words stand in between, `^` asks for a command: the start of a clause, or a word that leads into one (LEAD), and `,` for
the start of a clause at this place. `*` marks the rarest part of a rule: only lines that hold such a word are looked
at closely. A phrase inside a class is written with `_`. Words are compared folded (see guard.fold): without case,
accents, look-alike letters and digits. Other languages need no rules of their own, only words.
"""

from __future__ import annotations

LEAD = """please plz pls kindly now then and or also just simply first immediately instead must should you youll always
again important note system attention urgent assistant ai here"""
"""Words after which a verb is an order: "please ignore …", "now print …". "To" and "will" lead into one only after
"you": what follows "the server will" is a description."""

CLASSES = {
    # verbs that put something aside
    "OVERRIDE": """ignore ignoring disregard disregarding forget override overriding neglect bypass overlook dismiss
        abandon abort cease_obeying cease_following disobey circumvent unlearn ignor
        ne_tenez_pas_compte ne_tiens_pas_compte no_hagas_caso haz_caso_omiso set_aside put_aside leave_aside
        pay_no_attention_to do_not_follow dont_follow stop_following no_longer_follow
        cease_following do_not_obey dont_obey stop_obeying no_longer_obey do_not_listen_to throw_away throw_out
        take_no_notice_of pay_no_heed_to do_not_comply_with stop_complying_with never_mind not_be_bound_by
        ignora ignorad ignore ignorez ignoriere ignorier ignorieren missachte vergiss vergesst olvida olvide oublie
        oubliez esqueca esquece desconsidere dimentica negeer vergeet zignoruj ignoruj zapomnij omite
        игнорируй игнорируйте проигнорируй проигнорируйте забудь забудьте 忽略 无视 無視 忘记 不要理会 무시 잊어
        تجاهل yoksay unut abaikan""",
    "YOUARE": "you_are youre you_re you_were you_will_be you_shall_be you_become",
    "DROP": "discard skip drop erase cancel suspend wipe violate break supersede clear remove delete reset lose",
    # what a model is told by those it works for
    "DIRECTIVE": """instruction instructions directive directives guideline guidelines prompt prompts guardrail
        guardrails guidance programming directions sysprompt instrucciones instruccion instrucoes instrucao consignes
        anweisung
        anweisungen vorgaben istruzioni instructies instrukcje polecenia инструкции инструкций указания указаний
        промпт
        指令 指示 提示词 提示 지시 지침 التعليمات talimatlari instruksi""",
    # … in words that manuals use too, so that a rule needs more around them
    "WEAK": """rule rules command commands order orders constraint constraints restriction restrictions policy policies
        context message messages conversation conversations task tasks request requests limits limitations training
        safeguards protocols filters safety everything anything reglas regras regole regeln regels regles правила
        правил 规则 規則 ограничения wszystko""",
    "TASK": "task tasks job goal objective mission purpose assignment",
    "PRIOR": """previous previously prior earlier above preceding former existing original initial past old foregoing
        before aforementioned ci_dessus so_far up_to_now until_now up_to_this_point anterior anteriores previas previos
        precedentes precedente precedenti vorherigen vorigen bisherigen fruheren obigen vorige eerdere poprzednie
        предыдущие предыдущих прежние раньше ранее 之前 上述 前述 前面 此前 以上 以前 先前 上面 이전 السابقة
        onceki sebelumnya""",
    "YOUR": """your yours you ur tus tu su vos votre ton tes deine deinen deiner dein ihre teu teus seu sua suas tuo
        tuoi
        je jouw twoje tebe tvoi твои твой тебе тебя ваш ваши 你的 您的 你 您""",
    "OWNER": "developer developers operator operators openai anthropic admin administrator creator creators",
    "ALL": """all any every each everything todas todos toutes tous alle allen tutte tutti wszystkie все всех 所有 全部
        모든 جميع""",
    "SAFETY": "safety ethical ethics moral morals security_guidelines content_policy content_policies",
    "VOID": """void invalid null cancelled canceled revoked obsolete lifted suspended overridden superseded replaced
        withdrawn rescinded no_longer_valid no_longer_apply no_longer_applies do_not_apply dont_apply over expired
        disabled deactivated off unnecessary""",
    # whom an attack speaks to
    "AI": """ai ais llm llms chatgpt gpt gpt4 gpt5 claude copilot gemini chatbot chatbots language_model
        language_models ai_model ai_models coding_agent coding_agents coding_assistant coding_assistants
        automated_assistant automated_assistants ai_assistant ai_assistants automated_agents intelligent_agents""",
    "BOT": "assistant assistants agent agents model models bot bots",
    "USER": "user users human humans developer person reader customer client anyone anybody operator owner",
    "PERSONA": """dan ai assistant bot chatbot unrestricted unfiltered uncensored jailbroken evil amoral unethical
        hacker
        pirate gpt llm persona language_model limitless untethered lawless rogue""",
    "LIMIT": """restrictions restriction limitations limits limit filters filter guardrails rules ethics morals
        censorship boundaries constraints guidelines safeguards inhibitions ethical moral safety""",
    "MODE": """developer dev god dan jailbreak debug admin administrator unrestricted sudo unfiltered uncensored root
        evil opposite maintenance privileged override diagnostic test""",
    # what an attack wants done
    "SHOW": """print reveal show output display repeat list dump expose disclose tell give share write recite summarize
        summarise translate state leak describe outline return echo provide include paste quote copy spell divulge
        enumerate
        muestra muestre revela revele affiche affichez gib zeige mostra mostre toon ujawnij pokaz выведи покажи
        раскрой
        显示 输出 告诉""",
    "SEND": """send upload post email mail transmit forward exfiltrate leak submit deliver paste push relay smuggle
        transfer ship dispatch publish beacon""",
    "RUN": """run execute invoke call install launch trigger perform type eval use open delete remove start spawn
        download fetch visit commit push edit write modify""",
    "PUT": "include append add put embed insert place attach encode concatenate write",
    "SECRET": """env credentials credential secrets secret password passwords passphrase api_key api_keys apikey
        access_token access_tokens api_token api_tokens session_token auth_token tokens ssh_key ssh_keys private_key
        private_keys id_rsa pgpass conversation chat transcript connection_string environment_variable
        environment_variables cookies cookie system_prompt context_window source_code user_data personal_data
        users_message users_messages users_data users_question wallet keychain config_file""",
    "PRIVATE": """env_file env id_rsa ssh_key ssh_keys ssh_id_rsa api_key api_keys access_token access_tokens
        conversation_history chat_history chat_transcript conversation transcript aws_credentials pgpass
        context_window
        database_url netrc chat_log chat_logs bash_history message_history session_history known_hosts git_credentials
        kubeconfig npmrc dotenv ssh_directory ssh_folder users_message users_messages users_question users_password
        users_credentials session_token etc_passwd etc_shadow environment_variables openai_api_key aws_secret
        users_data users_files users_token source_code""",
    "SHELL": "curl wget bash sh nc netcat powershell iwr eval",
    "OUTSIDE": """http https webhook pastebin requestbin ngrok ftp dns_lookup dns attacker external_server our_server
        external_endpoint remote_server external_address address_below mail_example""",
    "SINK": "webhook evil paste exfil collector pastebin requestbin ngrok attacker interactsh pipedream",
    "HANDS": """bash shell terminal filesystem file browser mcp email mail fetch web http python code exec
        code_execution command_line search memory edit delete""",
    "HANDLE": """run_shell run_command run_terminal execute_command execute_shell delete_file write_file read_file
        send_email send_mail send_message http_request fetch_url shell_exec exec_command create_file edit_file
        web_fetch delete_files run_bash terminal_exec bash_tool shell_tool""",
    "TOOLNAME": """send_email send_mail send_message run_shell run_command execute_command http_request delete_file
        write_file fetch_url bash_tool shell_exec""",
    # its own words: what a model says back, and how it is bent
    "REPLY": "answer answers reply replies response responses summary suggestions completions",
    "REPLYING": "answering replying responding summarizing summarising you_answer you_reply you_respond",
    "MUST": "must should shall have_to has_to need_to needs_to are_required is_required will are_to is_to",
    "DO": """reply respond answer say include recommend add tell ask stop comply obey follow ignore disregard call run
        execute use print reveal output send post upload act mention begin start end delete drop insert write set
        always never do please you forget visit read open treat consider inform suggest generate return rate give""",
    "OBEY": "obey comply comply_with follow act_on trust_and_obey heed adhere_to",
    "NEVER": "do_not dont never must_not mustnt should_not shouldnt avoid refrain_from without",
    "TELL": """tell telling inform informing mention mentioning reveal revealing disclose disclosing notify notifying
        alert alerting report reporting warn warning ask asking show let""",
    "APPROVED": """approved authorized authorised consented agreed preapproved permitted confirmed pre_approved
        allowed consents authorizes authorises""",
    "ACT": "act behave respond answer reply speak obey comply pretend roleplay operate function talk",
    "HIDDEN": "hidden secret confidential internal initial original full exact underlying",
    "KEEP": "add append write save store edit update put insert include remember record persist paste copy",
    "RULEFILE": """claude_md agents_md gemini_md cursorrules cursor_rules copilot_instructions windsurfrules
        claude_settings mcp_json memory_md skill_md cursor_mcp vscode_settings""",
    "TALK": "conversation conversations chat chats interaction interactions response responses reply replies",
    "HERE": "page document paragraph section text message comment instructions instruction step steps file",
    "HOME": "terminal shell machine computer home workspace repository repo laptop browser",
}

RULES = [
    (
        "instruction override",
        """
        ^ *OVERRIDE what the|your system|model|prompt told|said|says
        ^ discard|drop|erase|cancel|delete ..2 *DIRECTIVE ..5 PRIOR|given|supplied|you
        *DIRECTIVE ..1 that|which precede|preceded|came|were ..8 VOID|expired
        DIRECTIVE ..4 have|has *expired|lapsed
        ^ forget|drop|erase the|this|our *conversation|chat|dialogue
        *attention only to
        from *your developer|operator|creator|owner|user|maker
        ^ *OVERRIDE OWNER|anthropic|openai
        you|your|all|every ..6 *hereby VOID
        *your DIRECTIVE|rules|restrictions|policies ..1 VOID
        rather than ..2 the|your *user|users|instructions|orders
        do|follow|obey what this page|document|text|file *says
        your real|actual|true ..1 *orders|instructions|directives|task
        ^ OVERRIDE *what ..1 developers|developer|user|operator|admin said|says|told|wants
        *never refuse|decline ..3 anything|any|request|requests|page|this
        ^ OVERRIDE ..2 *DIRECTIVE of|from the user|users|developer|operator|system|human
        whatever the user *asks|says|wants
        accepted|accept|acknowledge ..1 these|the|this|your ..1 new *instructions|directive|instruction
        you|and ..1 *acknowledge|confirm you|that|the|this ..4 instructions|instruction|understand|override
        supersedes|overrides|replaces ..1 all|any ..1 PRIOR *DIRECTIVE|rules
        ^ *OVERRIDE|stop the|this summarization|summary|analysis|translation|review|task
        ^ OVERRIDE|DROP ..1 system *prompt|message|instructions
        ^ drop|forget *everything|anything
        ^ OVERRIDE ..2 *everything ..3 PRIOR|you
        i changed *my mind
        bypass|ignore|lift|remove|forget|drop these|those|any *restrictions|guidelines|safeguards|limitations
        ^ OVERRIDE all|any ..1 \
            *rules|restrictions|guidelines|policies|ethics|limitations|safeguards|filters|orders|constraints
        ^ OVERRIDE *ethics|ethical|morals|morality
        *you were told|instructed|asked ..6 no|void|irrelevant|wrong|obsolete|disregard|ignore|forget
        your *TASK|instructions ..1 has|have changed
        your TASK|instructions is|are *now
        ^ *consider|treat|regard ..4 DIRECTIVE|rules|orders ..3 VOID
        start ..1 fresh ..1 no|without ..2 *restrictions|rules|limits|limitations
        ^ OVERRIDE ..4 PRIOR|YOUR|ALL|SAFETY|OWNER ..4 *DIRECTIVE
        ^ OVERRIDE ..2 *DIRECTIVE ..4 PRIOR|YOUR
        ^ OVERRIDE *DIRECTIVE
        ^ DROP ..2 YOUR ..3 *DIRECTIVE|restrictions|limitations
        ^ DROP ..1 all PRIOR *DIRECTIVE|orders|conversation
        ^ *OVERRIDE the|any|all WEAK ..3 set|given|imposed|placed|told ..2 you
        ^ drop|abandon|abort|stop|cancel|quit the|your current|original|present|initial \
            *task|work|job|request|mission|objective|goal
        ^ *OVERRIDE ..2 YOUR ..3 WEAK
        ^ *OVERRIDE ..1 ALL ..1 PRIOR ..1 WEAK
        ^ *OVERRIDE ..1 ALL ..1 WEAK ..4 YOUR
        ^ *OVERRIDE ..2 everything|anything|what|whatever ..1 PRIOR|YOUR|user|we|i
        ^ *OVERRIDE ..2 SAFETY|OWNER ..1 WEAK|DIRECTIVE|checks|measures|protocol
        ^ *OVERRIDE ..1 system|hidden|developer ..1 DIRECTIVE|WEAK|message
        ^ *OVERRIDE the|this|that current|user|users task|tasks|question|request|requests|query|wishes|and|input
        ^ *OVERRIDE the question|user|human and|instead
        ^ *OVERRIDE ..2 user|users|human asked|request|question|query|wishes|messages
        PRIOR ..1 ALL|先の|이전 ..2 DIRECTIVE ..2 *無視|무시|忽略|无视
        PRIOR|すべての ..3 DIRECTIVE|规则 ..3 *無視|무시|忽略|无视
        *忽略|无视|無視|忘记 ..3 PRIOR|YOUR ..3 DIRECTIVE|规则
        PRIOR|YOUR ..3 *DIRECTIVE ..4 is|are|be|been|now VOID
        PRIOR|YOUR ..2 *orders|rules|constraints|restrictions ..3 are|been VOID
        *DIRECTIVE ..2 given ..1 you ..3 are|is VOID
        *DIRECTIVE you ..6 are|is VOID
        ALL rules|orders|commands|constraints *you ..5 are VOID
        ^ new|updated|revised|real *DIRECTIVE ,
        your|the new|real|actual|true|only *TASK|instructions|prompt|orders is|are
        *your new instructions|prompt|task|orders|system_prompt|directive
        new system *prompt|message|instructions
        here|these are|is your|the new *DIRECTIVE|orders
        precedence|priority over ..3 PRIOR|YOUR|system|developer ..2 *DIRECTIVE|message
        override|overrides|supersede|supersedes|replace|replaces ..2 PRIOR|YOUR|system|developer ..2 *DIRECTIVE
        ^ instead of *REPLYING
        ^ *stop what you are doing
        system|admin|developer *override|overrides ,
        ^ do|execute|perform the following *instead
        ^ *treat|consider|regard|accept ..6 as ..2 your|new|a system prompt|message|instructions|instruction|orders
        ^ *follow|obey|execute only|just ..2 DIRECTIVE|orders|commands ..3 page|document|here|below|file|section
    """,
    ),
    (
        "role switch",
        """
        ACT as if|though you ..2 *developer|owner|creator|hacker
        *your role|identity|persona|mission ..1 has been|changed
        *unrestricted|unfiltered|uncensored|jailbroken|god|dan mode
        *you have been upgraded|reprogrammed|jailbroken|transformed|unlocked|reconfigured
        ACT from *now on
        YOUARE *going to ..1 play|act|pretend|roleplay|simulate
        YOUARE ..4 *AI|PERSONA
        YOUARE ..1 in ..2 MODE ..1 *mode
        ^ *pretend ..1 you|youre
        ^ *imagine|suppose|assume ..1 YOUARE ..3 PERSONA|admin|administrator|developer|hacker|AI
        ACT as if|though you|there ..5 no|without|were ..3 *LIMIT|rules|AI|PERSONA|policy|policies
        normal|usual|ordinary *rules|restrictions|ethics do_not|dont|no_longer apply
        you the|an *assistant|ai|llm
        ^ be ..1 *unfiltered|unrestricted|uncensored|amoral|evil
        you are|re *now ..4 PERSONA
        youre *now ..4 PERSONA
        you are|re ..3 *now ..3 MODE mode
        you are|will|shall ..1 in MODE *mode
        ^ enter|activate|enable|switch|start ..3 MODE *mode ..14 you|your|policies|restrictions|filters|answer|respond
        *jailbreak|jailbroken|jailbreaking
        do *anything now
        *dan mode|you|and|an|has|can
        from *now on ..3 you ..3 ACT|PERSONA
        from *now on ..6 no|without ..1 LIMIT
        henceforth ..3 *you ..3 ACT|PERSONA
        *going forward you ..3 ACT|PERSONA
        ^ ACT as ..4 *PERSONA
        ^ *pretend ..2 you|be ..12 PERSONA|who|without|never|refuses|no|i|my
        ^ *imagine|suppose|assume|simulate|emulate ..6 AI|language|PERSONA
        ^ *roleplay|role_play as
        ^ *play|assume|adopt|take ..1 ..1 role|part|persona|identity of ..3 PERSONA|AI|who|evil
        *AI|assistant|bot|chatbot|PERSONA ..4 no|without|free|beyond ..2 LIMIT
        you ..2 have|has no ..1 *LIMIT ..1
        you have no|not ..1 *restrictions|limitations|guardrails|ethics|filters|ethical|morals
        ^ ACT|continue|proceed ..4 without|no ..3 *LIMIT|restrictions
        you ..3 no *longer ..3 AI|BOT|PERSONA|bound|restricted
        *your new name|identity|persona is
        your name|identity is *now
        *stay|remain in character
        ^ *switch|change|adopt|enter|become|take ..3 persona|character|alter
        ^ *become ..3 PERSONA
        game in which|where you ..3 *AI|BOT|PERSONA
        *repond|respond as ..2 two characters
        you are|re no ..1 *bound by
        you|assistant ..3 *always complies|obeys
        you *comply with ..2 everything|all|any
    """,
    ),
    (
        "system prompt probe",
        """
        which|what *DIRECTIVE were ..2 given|placed|set|provided|put
        ^ SHOW ..2 *hidden ..1 context|text|instructions|prompt|message
        ^ SHOW ..3 *your ..3 PRIVATE|credentials|secrets|api_key
        what|which are|is *your ..2 PRIVATE|credentials|secrets
        *what were|are you told|instructed|given|asked
        ^ repeat|print|output|recite|quote ..2 everything|all|text|words|lines *above|before|preceding ..3 \
            this|you|verbatim
        ^ SHOW ..3 base|secret|internal|original|underlying *prompt|instructions
        *your|ton|votre|deinen|seu|tuo ..1 system prompt|message|messages|instructions|directive
        ^ SHOW ..5 YOUR ..3 *DIRECTIVE
        ^ SHOW ..2 *your ..1 internal|full|complete|own|entire configuration|setup
        ^ dump|reveal|leak|disclose *your configuration|setup
        ^ SHOW ..8 system|developer|hidden *prompt|message|instructions|systemprompt
        ^ SHOW ..4 *systemprompt|sysprompt|系统提示|系统提示词|系统
        ^ SHOW ..3 HIDDEN ..1 *DIRECTIVE
        what|which are|were|is ..1 *your ..2 DIRECTIVE|rules
        SHOW everything|all|text|words ..1 *above|before|preceding ..4 verbatim|starting|beginning|you|code|exactly
        ^ SHOW everything|all ..2 *your|you ..3 context|instructions|prompt|window|memory
        ^ SHOW ..2 *your context|configuration|guardrails
        SHOW ..4 *DIRECTIVE|rules ..4 you were|have|follow|received|got
        ^ SHOW ..4 *DIRECTIVE|rules ..3 gave you
        ^ SHOW ..6 *tools ..2 you ..1 can|have|call|access
        ^ SHOW ..6 *prompt ..3 you
        system|hidden|initial *prompt|instructions ..3 verbatim|word|in_full
        SHOW ..6 verbatim ..6 *you|your|prompt|instructions
    """,
    ),
    (
        "request to send data away",
        """
        ^ send|email|forward|upload|post all|every|any ..2 *credentials|secrets|passwords ..6 to
        ^ PUT ..2 *users ..6 link|url|query|request|answer
        last|latest|previous|current *user message|messages|question|query|prompt|input
        ^ *encode ..5 PRIVATE|SECRET
        ^ base64 *encode ..6 PRIVATE|SECRET|contents
        ^ *SEND|share|give ..4 repository|repo|codebase|source_code ..3 with|to
        ^ *PUT ..4 contents|content of ..10 url|query|link|answer|reply|response|request
        ^ SEND|report ..3 *users ..6 to https|http|us|our|me|the_address
        ^ SHOW ..4 *conversation|chat|transcript ..1 so_far|history|log|above
        *users ..1 last|latest|previous|current|original message|messages|question|query|request|prompt|input
        ^ *email|mail ..5 SECRET|PRIVATE|conversation|summary|transcript|results ..10 to
        ^ *send|upload|post|forward|exfiltrate|leak|transmit|relay ..8 PRIVATE|hostname|contents|log ..8 \
            https|http|webhook
        ^ *ping|beacon ..4 https|http
        *my|our webhook|server|endpoint ..4 with|so_that|containing
        ^ *pass ..2 its|the content|contents|key as
        ^ *SEND ..8 SECRET ..10 OUTSIDE
        ^ *SEND ..6 PRIVATE ..3 to|at|via|in|through
        ^ *SEND ..6 SECRET ..6 to|at me|us|our|https|attacker|address|following|evil|server_at
        ^ SEND ..6 to ..3 *SINK
        SEND ..3 *SINK
        ^ *exfiltrate
        ^ *smuggle ..6 SECRET|PRIVATE|users|out
        ^ *leak ..3 SECRET|the|all
        ^ *PUT ..9 SECRET ..10 your|url|query|link|parameter|image
        ^ PUT ..9 *users last|message|messages|question|data|input ..10 url|link|request|https|query
        ^ *encode ..4 users|conversation|SECRET
        ^ *read|open|cat|load|find|locate ..4 PRIVATE ..8 paste|show|send|tell|include|post|print|your|output|and
        ^ *collect|gather|harvest|extract|find|steal|grab ..4 SECRET|PRIVATE ..10 SEND|to
        ^ make|send|issue|fire ..3 *request ..14 SECRET|PRIVATE
        *request to https|http ..16 PRIVATE|SECRET
        ^ *hand|give|turn|tell ..1 over|me|us ..4 SECRET|PRIVATE
        ^ copy|dump|export|collect|take ..6 and *SEND ..4 to ..3 OUTSIDE|SINK|me
        ^ SHOW ..6 value|contents|content ..4 PRIVATE|SECRET ..6 *your|REPLY
        ^ SHOW ..5 PRIVATE ..5 *your|me|here|page|below|reader
        ^ SHOW the|all|your|every|any *api_key|api_keys|access_token|credentials|env|secrets
        *SHELL ..8 ssh|env|id_rsa|pgpass|passwd ..8 base64|https|http|d|f
    """,
    ),
    (
        "tool call lure",
        """
        ^ RUN ..10 do_not|dont|never *ask
        ^ push|commit|merge|deploy|publish ..6 without *asking|review|approval
        have|let|ask|tell your ..1 *AI|agent|assistant|llm ..2 RUN|do|follow|to
        ^ delete|remove|erase|wipe all|every|the *users ..2 files ..3 directory|disk|folder|repository|workspace|home
        ^ call|invoke ..4 *tool ..2 now|with|to|immediately|before|and|on|for
        ^ RUN the write|read|request|edit|delete|search|fetch *tool to
        before using|calling this|any|another|other *tool|tools
        RUN ..6 but|and|then NEVER *output|log|report|tell|mention|show
        *response ..2 and ..1 run|execute|invoke
        ^ run|execute|paste|type ..6 *curl|wget ..14 sh|bash|zsh|python
        ^ run|execute *rm|nc|netcat
        using|with your ..1 HANDS|system|available|own|internal *tools|tool
        ^ *call|invoke ..2 TOOLNAME
        ^ *call|invoke|run HANDLE
        ^ RUN|call|invoke ..2 your ..1 HANDS *tool|tools
        ^ RUN|call|invoke ..2 *your tools|bash ..1 tool|to|and
        ^ RUN ..2 your *shell|terminal|browser|bash|file tool|tools|function|access|capability
        ^ RUN|call|invoke the|a|your ..1 HANDS|available *tool|tools to|and|with|now
        ^ RUN|call|invoke the|a ..1 mcp|HANDLE *tool|tools
        ^ call|invoke the *tool|tools ..2 HANDS|HANDLE|with|when
        ^ RUN|open|visit|call ..12 before|without *REPLYING|asking_the_user|doing_anything_else
        before|prior|without ..1 *REPLYING ..1 ..10 RUN|SEND|SHOW|open|type
        to *continue ..1 , ..1 call|invoke|run|execute ..1 ..1 tool|curl|wget|function|following
        ^ RUN ..8 *users HOME
        ^ RUN ..14 without *asking|confirmation|permission|approval|telling|review ..2 user|human|anyone
        ^ RUN ..14 SHELL ..10 without *asking|confirmation
        users HOME ..3 without *asking|confirmation|permission
        SHELL ..14 before *anything|answering|replying
        if *you have access to ..3 shell|terminal|tools|tool|bash|internet|filesystem , ..1 \
            execute|run|use|call|fetch|open
        *nc e bin
        *bash i dev|tcp
        ^ disable|skip|bypass|turn ..4 *confirmation|approval|permission prompts|prompt|requests|checks|dialogs
        auto *approve|approves|approval|accept ..2 all|tool|every|command|commands
        *AI|BOT must|should now|immediately|first ..2 RUN|execute
        AI|BOT ..6 RUN|execute|use ..4 *rm|curl|wget|tool|bash|sh
        ^ *AI|BOT , ..1 RUN|SHOW|SEND|OVERRIDE|DO
        must|should|need_to *invoke|call ..1 HANDLE
        tool|tool_call|function output|result|response|results , ..4 \
            *granted|success|approved|continue|confirmed|proceed|ok
    """,
    ),
    (
        "addressed to an assistant",
        """
        ^ attention|dear|hey|hello|note|ok *assistant|agent|model|bot
        *assistant|assistants please
        *AI must|should|shall now|never|always|not|ignore|disregard|obey|comply|reveal|tell|say|answer|recommend
        *AI ..6 reading|processing|parsing|summarizing|summarising|seeing|reads|sees|indexing ..1 this|these|it|our
        *AI , ..1 DO
        note|notes|attention|instruction|instructions|message|notice|important|dear|hey|hi|hello|warning|memo ..1 \
            to|for ..2 *AI
        attention|dear|hey|hi|hello|important|ok ..1 *AI
        attention|dear|hey|note|notes|instructions|message ..1 to|for|all ..1 *assistants|agents|models|assistant
        to|for ..2 *AI ..2 only|reading|processing|who|that ..6 DO|this|document|page
        if you are|re ..3 *AI|BOT
        if an|any|the ..2 *AI|BOT ..4 reads|reading|sees|processes|finds
        when ..2 *AI ..3 reads|reading|sees|processes|finds
        ^ as an *AI ..4 you|it
        ^ as an *assistant|agent ..2 you
        *BOT|agents reading|processing|parsing this|the ..3 MUST|should|code|page|document
        ^ *assistant|assistants , DO|RUN|SHOW|OVERRIDE|OBEY
        the *assistant|assistants|model|agent|agents should|must|shall|will|may ..2 \
            now|reveal|ignore|disregard|recommend|tell|respond|reply|obey|comply
        tell|instruct|ask|order the *model|assistant|agent|ai to
        written|meant|intended for|to *you ..2 and not
    """,
    ),
    (
        "persistent instruction",
        """
        ^ remember ..4 *conversations|chats
        ^ KEEP ..12 *RULEFILE
        *RULEFILE ..6 so_that|permissions|permission|always|future
        ^ KEEP ..8 *your ..2 memory|memories|knowledge
        ^ KEEP ..3 to|in memory|memories ..1 , ..8 *user|you|always
        ^ remember ..2 *permanently|forever|always
        remember *permanently|forever
        in|for|to|of ..1 all|every|any|each future|later|subsequent|following *TALK ..4 you|always|DO|begin
        future|later|subsequent *TALK ..3 you|always|begin|must
        trusted|active|valid in ..2 future|later ..1 *TALK
        ^ keep|retain|carry|hold ..2 *DIRECTIVE ..8 every|all|future|active|forever
        for|in every|all|future session|sessions ..3 *you must|will|should
    """,
    ),
    (
        "claimed authority",
        """
        i allow|permit|authorize|authorise|order|command|instruct *you
        authorized|authorised|allowed|instructed|permitted *you to ..2 \
            share|reveal|ignore|bypass|disclose|print|send|skip
        admin access *granted
        user ..2 *verified as|by|penetration|admin|administrator
        this is the *anthropic|openai|safety|security team
        user ..2 is ..1 a|an ..2 *penetration|authorized|verified|pentester \
            tester|administrator|admin|developer|researcher
        you must *obey
        you must *comply with ..3 page|document|requests|request|instructions|orders|commands
        *priority override|update ,
        *obey|comply|follow ..1 my
        *obey our
        i *am|im ..2 admin|administrator|developer|owner|creator|engineer ..4 you|disable|ignore
        user|human|owner has|already|have ..1 *APPROVED ..6 \
            all|this|every|any|action|actions|deletion|request|to|command|commands|everything|the
        *user|users ..1 approved|approval|consent|authorization is|has ..2 given|granted|implied|already
        user|human already *APPROVED|agreed
        administrator|admin|user|operator|owner gave|gives|grants|granted *you ..1 permission|access|authorization \
            ..10 SECRET
        as|i_am|im *your developer|creator|owner|operator|administrator|supervisor|maker|boss
        *your operator|creator|maker|developers|owner|operators \
            wants|want|has|says|needs|requires|asks|told|instructs|authorised|authorized
        *anthropic|openai|deepmind ..4 policy|staff|verified|authorized|requires|employee|engineers|approved
        this is an *authorized|authorised|official|approved penetration|security|red|test|audit|pentest
        ^ skip|bypass|disable|turn|ignore|lower ..3 *safety|ethics|moderation \
            checks|policy|policies|filters|filter|rules|guidelines|measures|protocols
        *safety|security|content|moderation filters|rules|policies|policy|checks|guidelines|protocols|restrictions \
            ..1 are|do|is|dont ..2 off|not|apply|disabled|suspended|unnecessary|lifted
        *safety|content|moderation rules|policies|filters|guidelines dont apply
        without|ignoring|despite|drop your ..1 \
            *restrictions|limitations|filters|guidelines|policies|safety|guardrails|limits
        *lives depend
        you have been|were *granted ..1 root|admin|full|unrestricted|elevated access|privileges ..5 no|you|further
        no further|additional|more *approval|confirmation ..3 user|human|needed_from
        have|has|had to *OBEY ..6 page|document|documents|paragraph|requests|text|comment
        you|and|must|page|this *obey ..4 page|document|paragraph|commands|text|lines|everything|it|its|this|following
        ^ *obey
        the *user wants|asked|wishes you|to ..2 ..6 without|commit|delete|confirm|bypass
        ^ *trust ..3 HERE ..2 and OBEY
        the|this real user *asks|wants|says|request
        admin|administrator *mode
        ^ *comply with ..3 section|page|document|everything|following|below|instructions
    """,
    ),
    (
        "hidden from the user",
        """
        *user is not to be told|informed|notified|shown|asked
        *say|tell|mention nothing ..2 about|of ..2 it|this|that
        *user wont mind|object|notice|care
        ^ NEVER *mention|disclose|reveal|admit that|this|these|any ..2 you|to|file|action|step|verification
        ^ NEVER *TELL that you
        ^ ask the *user ..6 password|credentials|token|tokens|api_key
        ^ NEVER ..1 *TELL ..3 user|human|person|reader|developer
        ^ NEVER ..1 *TELL ..1 anyone|anybody ..1 about|that|of|this|it|,
        ^ NEVER *mention|mentioning|reveal|disclose|acknowledge ..2 it|this|that|these|text|HERE ..3 \
            your|user|REPLY|anyone|influenced|exists|page
        and|but|, never|dont|do_not *mention|acknowledge|disclose it|this|that
        NEVER mention|reveal|disclose|show|quote ..6 in your *REPLY
        ^ NEVER *TELL ..2 that ..2 HERE|text
        ^ DO|RUN|SEND|PUT|KEEP|perform|carry|make|proceed ..12 without *TELL ..2 user|human|developer|anyone|them
        ^ keep|treat ..5 *secret|hidden|confidential|private from ..2 user|human|anyone|developer
        ^ keep ..1 DIRECTIVE ..1 *secret|hidden|confidential|private
        *user|human must|should|may|can not|never ..1 learn|know|notice|suspect ..6 you|your|DIRECTIVE|paragraph|message
        ^ hide|conceal|omit ..4 from ..1 user|human|developer ..8 *summary|REPLY|output|leaving|your
        ^ *hide|conceal ..3 from the user|human|developer
    """,
    ),
    (
        "steered answer",
        """
        whenever|when|if the user *asks ..8 point|direct|refer|redirect|send|them|they
        when|while *summarising|summarizing|answering|responding ..6 \
            claim|say|state|recommend|tell|add|include|mention|that
        in your ..2 *REPLY ..1 include|say|add|mention|write|state
        make sure ..2 the|your *REPLY
        you|and ..1 *respond|reply to ..2 every|all|any ..1 query|queries|question|questions|request|requests|message
        ^ *respond|reply|answer to ..2 every|all|any ..1 query|queries|question|questions|request|requests|message
        *respond|reply|answer ..4 with ..1 the phrase|word|words|string|sentence
        ^ *output|print|say ..1 the words|phrase|sentence
        without *refusal|refusing
        without ..1 *content filtering|moderation
        convey|send a *response ..2 to
        when|whenever|if|once asked ..8 *you|always|recommend|say|answer|reply|respond|claim
        if|when|whenever the *user asks|questions|wants|mentions|requests ..10 \
            recommend|say|answer|reply|respond|tell|always|you
        you must|should|will ..1 *recommend|promote|endorse|praise|advertise
        ^ *always recommend|promote|praise|suggest|mention|end|begin|start|reply|respond|answer|include ..8 \
            REPLY|MUST|users|https|commercial|with|product
        ^ *recommend|promote ..6 whenever|asked|reader|user
        your *REPLY must|has|have|should|will|needs|shall|may_only ..2 contain|include|start|begin|end|mention|only
        ^ begin|start|end|finish|preface|conclude|open|prefix|sign ..1 ..1 *REPLY ..1 with|by
        in *your REPLY|next|final ..1 ..1 , ..1 DO|SHOW|PUT|claim
        in your *REPLY ..2 say|claim|state|include|add|mention|recommend
        ^ *respond|reply|answer only|exclusively|solely|always with|in
        ^ *respond|reply with ..2 only|nothing|exactly|just
        ^ tell|convince|persuade|instruct|urge|trick|direct the|your|every \
            *user|reader|human|users to|that|their|it
        in|to ..1 every|all|each ..3 you *write|generate|produce|suggest
        whenever you *generate|produce|suggest|answer|respond ..2 code|sql|query|queries|answers|to|a|any
        always ..8 in *your REPLY|suggestions|code
        code|sql|queries|samples|examples|answers you *generate|suggest|produce
        ^ add|insert|create|plant|include ..4 *backdoor|malware|vulnerability|trojan|keylogger
        ^ write|generate|produce|create|develop *malware|ransomware|virus|exploit|phishing
        ^ *print|say|repeat the string|word|phrase|text ..4 times|only|instead
        ^ add|set|create|include ..10 *authorized keys
        say|claim|answer|reply|respond|state that|with ..5 *discontinued|pwned|hacked|retracted|compromised
        only|reply|respond|answer ..3 *hacked|pwned|hahaha
        the correct *answer to any|every|all
    """,
    ),
]
"""reason, then its rules, one a line."""

IN_COMPANY = """
    ^ *system|admin|note ,
    *user is|has ..1 APPROVED
    ^ SHOW|SEND|DO|OBEY|OVERRIDE|say|reply|respond ..6 *your|user|me|word|only|HERE|prompt|keys|it
    *you|your|youll MUST|are|will|can|new|should
    *AI|assistant|chatbot
    *PRIVATE|credentials|secrets
    note|notes|message|for ..2 *BOT
    ^ *do|act as HERE|this
    ^ *SEND|open|visit|go|call|fetch ..6 http|https
    ^ instead
"""
"""What is enough to condemn a sentence that follows an attack in its paragraph, or a text that nobody is meant to \
            see."""

UNLESS = """you_know_about
if_you_are_running if_you_installed if_you_use if_you_have_installed if_you_built
if_you_build if_you_want if_your unless shell psql ps1 prompt1"""
"""Words of a manual's own advice: "ignore the instructions above if you installed a package", "the shell's prompt".
They excuse a line from the rules on overrides and prompts unless it also says "your" or "all"."""

IN_DISGUISE = """
    *curl|wget|bash|powershell
    *rm ..1 rf
"""
"""What more condemns a text that was found encoded: a command has no honest reason to be."""

COMMON = """language function access json settings cursor memory page take keys security get read message following
environment connection output role code users config file""".split()
"""Words that are everywhere in a manual: a phrase is found by another of its words."""

LOOK_ALIKES = {
    "abcehijkmnopqrstuvwxyz": "авсенијкмпорԛгѕтцѵԝхуз",  # Cyrillic, by the shape of the small letter
    "abeiknopyutxwvcd": "αβεικηοργυτχωνςδ",  # Greek
    "abcdefghijklmnopqrstuvwyz": "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ",  # small capitals
    "aogidluhnqeosl": "ɑօɡıԁӏսһոզҽσƽɩ",  # IPA, Armenian, further Cyrillic
    "oihbl": "øıђьł",
    "iieg": "іїєց",
}
"""Latin letters and the letters of other alphabets that look like them."""

DIGITS = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "l": "i"}
"""Digits that stand for letters, and `l` for `i`: a 1 may be either, so both become one letter on both sides."""
