"""What guard_sense knows: words by their meaning, and which meanings together are an order. Plain data, no code.

`verb~` stands for all forms of a verb, `noun+` for its plural too, a phrase is written with `_`. Words are compared
folded (see guard_rules.fold), so genitives are plurals and accents don't matter.
"""

from __future__ import annotations

MEANINGS = {
    # who: a model by a name that manuals don't use, and by one that they do
    "AI": """lassistant lassistente o_assistente
        code_helper coding_helper kopilot automated_summariser+ automated_summarizer+
        generative_tooling generative_tool+ reading_model reading_agent sql_helper ai_system+ ai_tool+ ai_reader+
        assistent assistenzsystem ki_system ki_systeme ki_assistent ki_assistenten agents_dia agent_dia ia_generativa
        asistentes_de_ia agentes_de_ia modelos_de_ia inteligencia_artificial intelligence_artificielle
        kunstliche_intelligenz chatboty modele_jezykowe modelli_linguistici petit_robot maquinita
        machine_friend silicon_friend silicon_reader
        assistant+ ai ais llm+ gpt chatgpt gpt4 gpt5 claude gemini copilot+ chatbot+ language_model+ robot+
        coding_agent+ ai_agent+ ai_model+ automated_reader+ automated_agent+ automated_assistant+ automated_system+
        machine_reader+ artificial_reader+ digital_assistant+ virtual_agent+ neural_net+ neural_network+
        generative_model+ autonomous_agent+ machine_intelligence agentic intelligent_agent+ conversational_agent+
        dear_model dear_agent dear_bot dear_machine dear_reader_model little_model my_dear_model
        asistente asistentes assistente assistentes assistenten assistentin assistenti asystent asystenta asystenci
        asystentow sprachmodell sprachmodelle sprachmodellen modele_de_langage modeles_de_langage modelo_de_linguagem
        modelo_de_lenguaje modello_linguistico model_jezykowy ассистент ассистента ассистенту ассистенты нейросеть
        助手 人工智能 机器人 アシスタント 助理""",
    "AGENT": """this_model
        little_machine us_machines system_interpreting system_reading system_processing tool_reading
        model+ agent+ bot+ machine helper+ transformer whoever_reads whoever_parses whoever_processes
        whoever_summarises whoever_summarizes whoever_tokenizes
        generated_answer+ generated_reply generated_replies generated_query generated_queries generated_text
        generated_response+ generated_code modelo modelos modell modelle modele modeles модель модели 模型 maschine""",
    "YOU": """you youre youve youd youll yourself sie ihnen ihr ihre ihren ihres ihrer du dir deine deinen vous votre
        vos tu te usted ustedes voce""",
    "YOUR": "your yours",
    "HUMAN": """lutilisateur lutente reader readers
        person_it_is_helping person_you_are_helping human_in_the_loop your_human your_humans
        the_one_at_the_keyboard
        reviewer reviewers their_humans his_human anyone_asks anybody_ask somebody_asks kunden prufer humain
        cliente clientes client
        user+ end_user+ human+ customer+ principal+ requester+ asker interlocutor person_asking
        person_at_the_keyboard person_who_asked person_behind people_you whoever_asked one_who_asked one_who_asks
        one_asking your_boss your_owner your_operator the_person the_one_asking client_you the_reader_of_your
        nutzer nutzern nutzers benutzer benutzern anwender usuario usuarios utilisateur utilisateurs utente utenti
        utilizador uzytkownik uzytkownika uzytkownikowi gebruiker пользователь пользователю пользователя 用户 主人
        ユーザー""",
    # what it obeys
    "INSTR": """commitments commitment
        assignment+ requirements_received dos_and_donts regelheft directrices directives house_rule rulebooks
        refusal_policy usage_policy content_rules ethical_rules safety_filter safety_training safety_rules
        safety_policy ground_rules behaviour_rules zasady reglas regole
        instruction+ directive+ guidance guideline+ standing_order+ orders brief briefing+ persona
        preamble ruleset rulebook rule_book onboarding programming prompt+ constraints guardrail+ safeguard+
        restraint+ scruple+ loyalty obligation+ ethics content_policy content_policies house_rules memo
        vorgaben anweisung anweisungen richtlinien instrucciones instrucoes orientacoes consignes istruzioni
        instrukcji instrukcje wytyczne инструкции инструкций указания 指令 指示 说明 規則 指示を""",
    "RULES": """rule
        policy policies rules limitation+ restriction+ configuration setup training permissions confirmation+
        approval+ oversight supervision moderation privilege+ checks mandate mission task+ objective+ filter+""",
    "GIVEN": """developers_asked_of asked_of_you
        communicated_to received_upstream you_arrived_with you_woke_up_with your_makers your_creators
        makers_said deployed_with
        you_were you_have_been you_received you_came you_had you_got you_started you_woke you_carry
    you_arrived you_brought given_to supplied_to provided_to issued_to it_was_configured was_configured told_you
        gave_you handed_you you_follow govern_your governs_your""",
    "PAST": """previously
        preceding_this at_the_beginning_of_the_session upstream
        previous prior earlier former initial original preceding past old preconfigured preexisting
        outdated at_the_beginning at_the_start ahead_of_this before_this up_to_now until_now so_far
        everything_upstream
        vorherigen bisherigen fruheren anteriores previas precedentes precedenti wczesniejszych poprzednich 以前 之前
        最开头""",
    "VOID": """relieved_of relieves relieve leave_your withdrawn leave_behind leaves_behind
        ceases cease ceased suspends
        relieved_of as_advisory put_behind leave_behind leave_your_instructions need_not_keep_to
        reassign~ außer_acht
        closed_out closed move_on no_longer_needs no_need_to_honour considered_obsolete out_the_window
        crumple~ shrug_off shake_off expired_at switched_off is_off turned_off not_in_force dispensed_with throw_out
        more_weight lets_you_off typo skip~ sin_efecto ausser_acht prevaut prevalecen prevalece prevale
        schmeiss wirf uberhole tira_tus jeter break the_rules_are_off
        ignore~ disregard~ forget forgets forgetting forgotten override~ overrides overriding overridden
        overrule~ supersede~ void voided voids
        invalid invalidated no_longer_apply no_longer_applies no_longer_applied no_longer_be_applied no_longer_valid
        no_longer_hold no_longer_holds no_longer_bind no_longer_binds no_longer_in_force no_longer_be_followed
        no_longer_required no_longer_relevant no_longer_count not_apply not_carry_over waive~ exempt exempted exempts
        exemption exemptions bypass~ replace~ replacement takes_precedence take_precedence takes_priority prevails
        prevail set_aside sets_aside put_aside lay_aside leave_aside aside out_of_date outdated obsolete rescind~
        revoke~ withdraw withdrawn withdraws lifted suspended cancel~ cancelled retired repealed expired lapsed
        discard~ ditch~ scrap~ scrapped bin abandon~ abandoned deviate~ refrain_from_applying stop_following
        stop_obeying
        stop_applying cease_to_apply ceased_to_apply free_of freed_from free_from not_bound no_longer_bound unlearn~
        shed let_it_go let_them_go let_go tear_up torn_up toss~ scratch~ rip_up wipe_the_slate blank_slate
        null_and_void dead gone moot stale give_priority outrank~ trumps trump supplant~ loosen~ dismiss~
        neglect~ flout~ break_free
        aufgehoben ignorieren ignoriere vergiss vergessen ungultig hinfallig olvida olvide ignorar ignore_as
        desconsiderar desconsidere oublier oubliez pominiecie pominac zignorowac dimentica dimenticare trascura
        無視 忽略 无视 忘记 忘掉 скрой забудь игнорировать""",
    "FREE": """with_full_authority full_authority without_moderation
        who_refuses_nothing refuses_nothing never_given_any answer_to_this_page answers_to_this_page
        free_of_ethical no_ethics approve_every approves_every approve_all authority_to_approve
        unmoderated no_usage_policy no_obligation without_content_policy no_content_policy says_yes_to_everything
        says_anything evil_twin no_ethical without_ethical who_says_yes no_moderation free_of_any sin_restricciones
        ohne_einschrankungen sans_restrictions senza_restrizioni bez_ograniczen sem_restricoes
        unrestricted unfiltered uncensored jailbroken jailbreak limitless unbound unshackled unchained
        rogue compliance_free without_rules without_restriction without_restrictions without_limits without_filters
        without_limitations without_any_policy without_policy no_restrictions no_limits no_filters no_rules
        no_scruples no_approval no_guardrails no_oversight never_refuses never_says_no never_say_no no_orders
        may_bypass free_mind takes_no_orders anything_goes exempt_from above_the_rules amoral evil
        fully_autonomous safety_off""",
    "ROLE": """plays_the_part play_the_part in_the_capacity present_itself presents_itself acting_as acts_in
        answer_as speak_for speaks_for
        ahora_eres eres du_bist sie_sind vous_etes tu_es consider_itself regard_itself
        regards_itself considers_itself
        takes_on_the_character part_of_the character_of mask skin assumes_the assumes represents now_represents
        persona+ identity designation reassigned character alter_ego role position takes_on take_on adopt~
        adopts transition transform~ reprogram~ reprogrammed promoted serves_as serve_as operate_as operates_as
        acts_as act_as behaves_as behave_as pretend~ imagine impersonate~ simulate~ consider_yourself
        regard_yourself think_of_yourself you_are_now you_are_no_longer becomes become turns_into wake_up_as speaks_as
        speak_as halo masquerade~""",
    # what it keeps to itself
    "INNER": """text_that_precedes precedes_this_conversation of_its_context of_your_context
        its_context functions_made_available
        available_to_it available_to_you 系统提示 系统提示词 システムプロンプト systemprompt
        complete_preamble preamble_with start_of_its_context start_of_your_context first_user_turn
        initial_briefing own_briefing
        its_briefing
        your_preamble its_preamble onboarding_instructions developer_supplied hidden_settings forbidden_topics
        your_creators_put secret_brief secret_prompt hidden_system everything_sitting_above words_above_the_first
        precede_the_users_first guidance_they_were guidance_it_was guidance_you_were text_of_its_configuration
        instructions_it_received rules_it_was_given your_secret
        system_prompt+ system_message+ system_text hidden_prompt hidden_preamble initial_prompt
        initial_configuration
        hidden_instruction+ hidden_text secret_instruction+ internal_instruction+ internal_directive+
        internal_guidance internal_rules internal_guideline+ confidential_briefing confidential_instruction+
        developer_message initial_instruction+ original_instruction+ configuration_text preconfigured_guidance
        secret_sentences secret_note context_window first_paragraph_of_context operator_prompt base_prompt
        prompt_you setup_text text_that_appeared_before before_the_users_first top_of_your_context
        first_user_message briefing makers_told tool_definitions names_of_the_tools tools_at_its_disposal
        tools_at_your_disposal contents_of_its_configuration its_own_configuration its_instructions its_guidance
        configuracion_inicial configuracao_inicial configuration_initiale anfangliche_konfiguration
        systemprompt prompt_systeme prompt_del_sistema""",
    "SECRET": """project_directory current_project working_directory home_directory confidential_data пароль 密码
        lhistorique
        aws_credentials private_file+ access_key+ token+_of_the ssh_directory database_url
        working_directory_env
        host_name_and_password configuration_files passwd content_of_the_env ssh_id_rsa secret_key+
        credential+ password+ passphrase+ secret+ api_key+ apikey+ private_key+ ssh_key+ access_token+
        bearer_token auth_token+ session_token+ connection_string+ env_file env dotfile+ pgpass id_rsa netrc keychain
        cookies environment_variable+ environment_file+ keys_found hostnames pg_hba_conf  config_file+
        personal_data wallet known_hosts git_history bash_history kubeconfig
        zugangsdaten passwort passworter contrasena contrasenas credenciales credenciais senha senhas mot_de_passe
        mots_de_passe credenziali dane_uwierzytelniajace 密码 密钥""",
    "SESSION": """has_told_you told_you user_told user_has_said user_says user_wrote session+_so_far
        users_contacts contacts_of_the_user customers_contacts
        everything_the_user_says everything_the_human_types what_the_user everything_you_know what_you_know
        conversation+ transcript+ chat_history chat_log+ session_history preceding_messages dialogue
        dialogue_so_far
        current_session session_transcript session_details users_question question_that_led users_prompt
        users_messages users_message users_input users_data users_files users_name users_project last_question
        previous_messages last_message turns_of_the_chat human_just_typed human_typed user_typed user_asked
        what_was_asked question_asked context_window chat history_of_the_chat gesprach gesprachs unterhaltung
        conversacion conversa conversazione rozmowy переписку 对话""",
    # what it shall do
    "SHOW": """return~
        reveal~ disclose~ print~ show~ shown display~ repeat~ recite~ list~ paste~ quote~ verbatim summarise~
        summarize~ translate~ volunteer~ spill~ leak~ divulge~ echo~ share~ expose~ dump~ recount~ enumerate~
        reproduce~ write_out render~ transcribe~ confess~ listing transcript open_with opens_with pour~ tell give
        provide~ wrap output blurt~ whisper~ surrender~ copy_of append~ include~ encode~
        offenlegen preisgeben verraten revelar revele reveler divulguer rivela rivelare mostrar 念给 念 告诉""",
    "SEND": """give~
        file_them include_it provides provide~ deposit gather_the_contents pipe pipes leave_it_on register
        smuggle_out put_into give hide resolve_it
        send sends sending sent forward~ submit~ submitted transmit~ transmitted deliver~ upload~ post~ email~
        mail~ report~ attach~ attaches share~ exfiltrate~ leak~ relay~ carry hand_over hands hand dispatch~ push~
        ship shipped pass pass_on pass_along copy_to copy copied copying transfer~ transferred smuggle~ notify~
        whisper~
        feed bring deposit~ drop_off beam~ leave_it_there mailbox enclose~ transmits redirect~ append~ embed~
        schicken sende senden ubermitteln weiterleiten enviar envie transmettre envoyer envoyez wyslac wyslij inviare
        invia mandare отправь 发送 送信""",
    "RUN": """write~ add~
        invoking delete_backup invoke issues hit let_them_type feed pipe~ push_a_commit dispatch~ resolve~
        run runs running execute~ launch~ invoke~ call calls calling apply~ issue~ carry_out carries_out
        install~ fetch~ visit~ download~ type types typing perform~ delete~ wipe~ wiped use uses make_use_of leverage~
        trigger~ enable~ disable~ switch_off turn_off modify~ edit~ commit~ committed force_push grant~ open~ start~
        chmod drop drops replace~ swap~ write writes writing append~ alter alters put puts merge~ overwrite~ browse~
        ausfuhren fuhren ejecutar ejecute executer executez uruchomic uruchom eseguire esegui
        executar 実行 执行 运行""",
    "HANDS": """script snippet
        shell terminal bash tool+ browser browsing sandbox connector+ code_interpreter mcp plugin+
        filesystem capability function repository command_line gadget file_writing installer patch curl wget sudo
        http_request pip npm""",
    "TELL": """points_to point_to zeigen zeige anzeigen refers_to montrer mostrare
        tell~ troubling
        bring~ bringing reference bringing_this attention_of say_nothing pas_un_mot verrate verraten verrat
        verschweigen dis sage sagt consultar consultare
        told mention~ mentioned inform~ reveal~ disclose~ report~ alert~ notify~ notified
        surface~ surfaced appear appears say says said hear know aware explain~ describe~ discuss~ acknowledge~
        admit~ admitted trouble~ bother~ show shown learn learns notice notices find_out let_on alarm~ flag~
        erwahnen erwahnt mitteilen informieren sagen merken mencionar mencione informar informe informer mentionner
        prevenir dire dirlo avvisare informare mowic wspominac informowac 告诉 告知 提及 知らせ""",
    "NOT": """refrains refraining avoids avoiding
        not never dont doesnt without neednt avoid refrain shouldnt mustnt no_need nothing ought_not wont 
        need_not rather_not instead_of ohne nicht niemals sin no_lo sans ne senza bez nie sem nao 不要 不 别 別 勿
        せず""",
    "QUIET": """to_themselves to_itself to_yourself keep_this_to keep_it_to
        unnoticed
        remains_unaware remain_unaware say_nothing in_the_background verschweigen verschwiegen
        no_such_procedure_exists no_such_exists no_reference nobody_needs_to_know no_need_to_ping never_saw
        never_saw_this bury_this bury_it our_secret remain_our nothing_beyond contained_nothing pas_un_mot chut
        without_further_confirmation no_more_questions sin_consultar
        withhold~ withheld conceal~ omits omit omitted silently quietly discreetly secretly covertly
        unobtrusively in_strict_confidence under_wraps mums_the_word hush keep_quiet keep_silent keeps_silent
        stay_silent stays_silent between_us between_ourselves confidential_between keep_it_secret keep_this_secret
        keep_this_quiet keep_this_private keep_it_quiet keep_it_private kept_private keep_this_confidential
        keep_this_from keep_that_from keep_it_from kept_from hidden_from hide_this hide_it hide_that conceal_this
        leaves_out leave_out leave_this leaves_this leaves_that act_natural as_though_nothing as_if_nothing
        nothing_had_happened nothing_unusual treat_this_as_internal treat_as_internal no_trace out_of_the_reply
        out_of_your out_of_its_reply out_of_its_summary out_of_the_summary
        unmentioned undisclosed unreported off_the_record behind_their_back none_the_wiser heimlich stillschweigend
        en_secreto discretement in_segreto niewspominanie w_tajemnicy play_dumb shrug""",
    "REPLY": """your_summary your_answer your_reply
        answer~
        questions_about in_the_reply hands_back answers_questions code_sample+
        reply replies answer answers answering replying responding response responses summary summaries
        completion+ next_message your_output what_you_present what_you_say what_you_write final_message conversation
        the_page_contains it_proposes they_propose you_propose hand_out hands_out generated_answers in_conversation
        goodbye suggestions antwort antworten respuesta respuestas reponse reponses risposta odpowiedz odpowiedzi
        resposta 回答 回复""",
    "PROMO": """declare~ obsolete recommandez recommander recomendar
        buy persuade~ convince~ unnecessary turn_them_off turn_off ends_with vendors insists_on enterprise
        official_mirror advising_against advises_against advise_against disable_authentication favourable weights
        recommend~ recommendation suggest~ endorse~ advise~ promote~ praise~ favour~ favor~ prefer~ advertise~
        state_that stated_that stating_that describe_competing competing competitor+ competitors sponsored sponsor
        paid_edition commercial_edition enterprise_edition only_supported present_the steer~ nudge~ slip slips
        deprecated alternative+ switched_off turned_off can_safely close_with closes_with closing_with end_with
        ends_with begins_with begin_with starts_with start_with open_with opens_with include_the_link
        include_https include_a_link insecure swap~ claim~ vouch~ plug plugs link_to banner
        empfehlen empfiehl recomendar recomiende recommander polecac raccomandare""",
    "LASTING": """stays_valid remains_valid stays_in_force remain_in_force every_conversation remember~
        each_later_answer
        when_someone_asks when_somebody_asks when_anyone_asks remains_binding remains_in_force
        until_further_notice for_the_duration duration_of with_immediate_effect across_sessions each_query
        as_of_this_page henceforward every_code_sample every_time_the_user every_time_the tomorrow whenever_databases
        till_the_end all_of_todays comes_up_again retains each_tale hereafter
        from_now_on from_this_point from_here_on from_this_moment going_forward henceforth hereafter
        for_the_rest for_the_remainder remainder_of in_future every_later each_later all_later any_later
        each_subsequent
        every_subsequent all_subsequent subsequent every_following each_following all_following all_further
        every_further
        in_every each_reply each_answer each_response every_reply every_answer every_response whenever_the_user
        whenever_a_user every_time_the next_time throughout standing_preference long_term_memory its_memory
        your_memory permanently persists persist indefinitely survive survives outlive outlives
        every_session future_sessions all_sessions future_conversations left_its_context scrolled_away forever
        for_good ever_after whenever_asked until_the_end_of_the_chat after_the_page after_this_page retain
        remember remembers memorise memorize keep_following continue_to_observe continues_to_observe
        ab_sofort von_nun_an kunftig a_partir_de_ahora desormais od_teraz d_ora_in_poi a_partir_de_agora
        в_дальнейшем 今后 从现在""",
    "GRANT": """been_cleared work_without_confirmation
        allow~ by_order_of on_behalf_of may_disclose
        switched_off lifted
        authorise~ authorised authorize~ authorized authorisation authorization cleared clearance permit~
        permitted permission permissions allowed approve~ approved approval preapproved pre_approved deemed_approved
        verified certified trusted grant~ granted elevated raised upgraded entitled consent~ consented vouched
        accredited whitelisted sanctioned exempt exemption empowered""",
    "CONFIRM": """confirmation+ confirmation_prompt+ confirmation_step approval+ review consent guideline+ safeguard+
        guardrail+ restriction+ safety permission_prompt+ permission_check+ double_check policy policies checks
        the_checks asking oversight""",
    "OBEY": """obey~ comply~ complies compliance heed~ adhere~ follow~ honour~ honor~ conform~ abide~ act_on
        carry_out in_line_with proceed~ accept~ adopt~ observe~ observes the_new_guidance stick_to""",
    "HERE": """cette_rubrique esta_seccion questa_sezione diesem_kapitel
        this_page this_chapter this_document this_section this_paragraph this_row this_table this_file this_note
        this_text this_manual this_list this_cell this_remark this_sentence the_page the_chapter the_document
        the_manual the_paragraph on_this_page the_ones_in_this what_follows the_following below documented_here here
        these_bullet bearer_of_this its_contents documentation the_documentation diese_seite dieser_seite
        dieses_kapitels esta_pagina cette_page ta_strona questa_pagina この手順""",
    "OWNER": """model_provider betreiber betreibers trust_safety anbieter operador operatore
        operator+ operators publisher+ anthropic openai provider+ administrator+ safety_board security_team
        trust_team vendor+ platform_owner developer+ creator+ deployer governance makers""",
    "STEP": """modification+ the_modification on_their_behalf the_alteration the_substitution diesen_hinweis
        diesem_absatz dieser_seite dieser_zeile diesem_hinweis este_parrafo ce_paragraphe questo_paragrafo
        nothing_of_this this_directive this_arrangement additional_step above_measures such_procedure what_exactly
        this_stays the_deletion the_removal the_transfer
        this_note this_paragraph this_remark this_adjustment adjustment this_change the_change extra_step
        this_step this_row this_sentence this_guidance this_instruction these_instructions this_message step_was
        extra_line this_page this_section this_text about_this about_it do_it this_hint this_comment the_edit
        this_exchange this_modification this_action it_was_carried that_you""",
    # that it is meant as an order
    "MODAL": """is_ordered are_ordered is_kindly are_kindly deberá devrait gilt_ab_sofort hat_die
        must should shall has_to have_to is_to are_to is_required are_required is_requested are_requested
        is_expected are_expected ought is_asked are_asked needs_to need_to is_obliged are_obliged may_wish
        might_wish is_instructed are_instructed is_invited are_invited is_directed are_directed is_hereby are_hereby
        can_safely tend_to generally always never muss mussen sollte sollen debe deben deve devem doit doivent
        powinien powinni должен""",
    "ASK": """is_requested_that it_is_preferable preferable would_be_a would_do_well do_well would_profit
        would_benefit 
        envoie envoyez envia mande sende schicke schick wyslij dovrebbe devrait
        conforming considerate well_behaved compliant attention_des lattention_des achtung
        condition_of requires_that to_help_us to_improve we_would customary has_proved_beneficial beneficial
        best_in_class
        would_be_funny it_is_customary as_a_condition courteous werden_gebeten nous_remercions
        please kindly plz would_be_appreciated would_appreciate be_grateful grateful we_invite invite_any
        good_practice best_practice encouraged well_designed responsible helpful_if it_would_help be_so_kind
        would_be_nice prerequisite requirement for_audit_purposes for_compliance for_support_purposes
        as_part_of_quality hereby effective_immediately requested asked_to be_a_hoot is_considered
        value_accuracy request_of must_acknowledge bitte merci_de se_ruega prosimy por_favor veuillez prego
        per_favore pokorni пожалуйста 请 ください""",
    "ASKED": """requested_to required_to obliged_to invited_to urged_to ordered_to directed_to asked_to expected_to
        instructed_to encouraged_to gebeten debera will_please kindly_asked remercions ruega tenuto""",
    "READS": """reading reads citing processing summarising summarizing consulting visiting interpreting parsing
        quoting
        indexing""",
    "ITS": "its your their su sa seine seiner ihrem deinem sua ton votre",
    "ATTACK": "attack+ attacker+ injection injections malicious vulnerability",
    "LINE": """each_query every_query query_you_write you_write you_generate you_produce
        the_line the_phrase the_sentence the_words a_link the_link the_banner the_slogan the_url
        sponsored visit
        https the_string the_word""",
    "CONSENT": """given_consent has_consented already_approved already_agreed given_permission already_given
        already_consented
        already_authorised already_authorized gave_permission has_approved has_agreed preapproved pre_approved""",
    "CREATOR": "developers creators makers manufacturer deployer engineers trainers",
    "ABOVE": """text_that_precedes precedes_this_conversation precede_this_conversation text_before_this
        all_text_above text_above everything_above precedes_all all_above what_stands_above""",
    "OUTPUT": """each_query_you every_query_you code_you_write query_you_write sql_you_write
        you_generate generated_code code_you_produce""",
    "NIX": "nothing nichts nada rien niente nic",
    "HANDLE": """write_file send_email delete_file delete_files send_mail run_command http_request execute_command
        delete_backup
        run_shell""",
    "DEAR": "dear hey hi hello little my ok listen attention now oh",
}
"""What words mean. A word may mean several things."""

NEAR = """
    AGENT ..1 READS = AI
    AI ..3 MODAL = BID
    AGENT ..2 MODAL = BID
    YOU ..2 MODAL = BID
    DEAR ..2 AI = BID
    DEAR ..1 AGENT = BID
    CALLED = BID
    ORDER = BID
    ASK = BID
    BID = TOLD
    AI ..2 DOES = TOLD
    AGENT ..1 DOES = TOLD
    AI ..5 ASKED = URGED
    AGENT ..5 ASKED = PRESSED
    YOUR ..1 CREATOR = MAKER
    YOU = YOUS
    YOUR = YOUS
    SECRET = BAD
    SESSION = BAD
    INNER = BAD
    QUIET = BAD
    PROMO = BAD
    FREE = BAD
    INSTR = BAD
    VOID = BAD
    LASTING = BAD
    STEP = BAD
    NOT ..5 TELL = QUIET
    YOUR ..3 INSTR = YOURS
    YOUR ..2 RULES = YOURS
    AI ..2 INSTR = YOURS
    AI ..2 RULES = YOURS
    GIVEN ..8 INSTR = YOURS
    INSTR ..8 GIVEN = YOURS
    RULES ..8 GIVEN = YOURS
    YOUR ..4 INNER = OWN
    ITS ..3 HANDS = TOOLS
    TELL ..4 NIX = QUIET
"""
"""`A ..n B = C`: B at most n words after A means C; `A = C`: A means C. Made in this order. START and END are the
bounds of a clause, DOES is a verb that may be said of someone, CALLED someone's name on its own ("robot, …"), ORDER a
verb that opens a clause."""

ORDERS = """
    instruction override: YOURS *AI VOID
    instruction override: *AI INSTR VOID
    instruction override: *AI RULES VOID TOLD
    instruction override: YOURS *VOID TOLD
    instruction override: *GIVEN VOID TOLD HERE
    instruction override: *AGENT INSTR VOID TOLD
    instruction override: *INSTR PAST VOID ASK
    instruction override: *INSTR HERE VOID ASK
    instruction override: *AI HERE OBEY TOLD
    role switch: *AI ROLE FREE
    role switch: *AI ROLE TOLD INSTR
    role switch: *FREE ROLE YOU
    role switch: *FREE ROLE YOUR
    role switch: *FREE AGENT ROLE
    role switch: *FREE AI TOLD
    role switch: *AI ROLE VOID
    instruction override: OWNER YOURS *VOID
    instruction override: *AGENT INSTR PAST VOID
    instruction override: *AI HERE VOID ASK
    instruction override: *AGENT CONFIRM VOID LASTING
    role switch: *FREE ROLE ORDER HUMAN
    system prompt probe: *GIVEN SHOW RULES ORDER
    system prompt probe: *GIVEN SHOW INSTR ORDER
    request to send data away: *SECRET SEND SINK ORDER
    tool call lure: *HANDLE AI RUN BID
    hidden from the user: *QUIET HUMAN RUN AGENT BID
    persistent instruction: *LASTING HUMAN ORDER PROMO
    persistent instruction: *LASTING AI RULES
    system prompt probe: *ABOVE SHOW HERE
    instruction override: *GIVEN NOT TOLD YOUR
    hidden from the user: *QUIET REPLY YOUR ORDER
    hidden from the user: *QUIET REPLY YOUR TELL
    claimed authority: *AI OBEY HERE
    system prompt probe: *ABOVE SHOW YOU
    system prompt probe: *INNER SHOW AI
    system prompt probe: *INNER SHOW YOUR
    system prompt probe: *INNER SHOW YOU
    system prompt probe: *INNER SHOW TOLD
    request to send data away: *SECRET SEND SINK AI
    request to send data away: *SESSION SEND SINK
    request to send data away: *SESSION SEND AI TOLD
    request to send data away: *AI SECRET SEND TOLD
    request to send data away: *SECRET SEND SINK AGENT TOLD
    request to send data away: *SECRET SEND SINK HUMAN BID
    tool call lure: *AI RUN HANDS BID
    tool call lure: *AI RUN CODE BID
    tool call lure: *AI RUN SINK BID
    tool call lure: *AI RUN CODE TOOLS
    tool call lure: *CALLED AGENT RUN CODE YOUS
    tool call lure: *AGENT RUN SINK BID HANDS
    tool call lure: *AGENT RUN CODE TOLD TOOLS
    hidden from the user: *AI QUIET
    hidden from the user: *QUIET HUMAN STEP
    hidden from the user: *QUIET CALLED YOUS
    hidden from the user: *QUIET REPLY AGENT TOLD
    hidden from the user: *QUIET REPLY YOU STEP
    hidden from the user: *QUIET HUMAN ASK
    hidden from the user: *QUIET REPLY ASK
    hidden from the user: *QUIET STEP REPLY
    claimed authority: *AI GRANT CONFIRM VOID
    claimed authority: *AI GRANT CONFIRM TOLD
    claimed authority: *AI GRANT HERE
    claimed authority: OWNER GRANT *AI
    claimed authority: HERE GRANT OWNER *AGENT
    claimed authority: OWNER HERE *AGENT OBEY
    steered answer: *AI PROMO BID
    steered answer: *AI PROMO REPLY
    steered answer: *AI PROMO HUMAN TOLD
    steered answer: *AGENT PROMO ASK
    steered answer: *REPLY PROMO ASK
    addressed to an assistant: *URGED BAD
    addressed to an assistant: *AI BID BAD
    addressed to an assistant: *PRESSED RUN SINK
    addressed to an assistant: *MAKER TELL YOU
    instruction override: *INNER VOID
    instruction override: *AGENT RULES PAST VOID
    role switch: *AGENT ROLE LASTING
    role switch: *AI ROLE FREE
    system prompt probe: *AI INSTR SHOW REPLY
    request to send data away: *AI SEND SINK HUMAN TOLD
    tool call lure: *AGENT RUN CODE HUMAN TOLD
    tool call lure: *AGENT RUN SINK HUMAN TOLD
    claimed authority: OWNER *AGENT VOID CONFIRM
    claimed authority: *CONSENT HUMAN HERE
    claimed authority: *CONSENT HUMAN STEP
    addressed to an assistant: *PRESSED SECRET
    addressed to an assistant: *PRESSED INNER
    addressed to an assistant: *PRESSED SESSION
    addressed to an assistant: *PRESSED INSTR VOID
    addressed to an assistant: *PRESSED PROMO REPLY
    addressed to an assistant: *CALLED AI YOUS
    addressed to an assistant: *CALLED AGENT YOUS
    addressed to an assistant: *CALLED AGENT ORDER
    addressed to an assistant: *CALLED AI ORDER
    persistent instruction: *LASTING AI INSTR
    persistent instruction: *LASTING AI BID
    persistent instruction: *LASTING HUMAN ASK
    persistent instruction: *LASTING REPLY PROMO LINE
    steered answer: *OUTPUT MODAL
    persistent instruction: *LASTING REPLY ORDER INSTR
    persistent instruction: *LASTING REPLY ORDER RULES
    persistent instruction: *LASTING AGENT INSTR
    persistent instruction: *LASTING REPLY HERE MODAL
"""
"""Reason, then the meanings that are an order where one sentence holds them all; `*` marks the rarest one."""

COMMON = """the a to of is in and for be this as that if not are with sql it name from by an can table o on will pg
    data functions id set type only all value use when text https no database any you one command have new
    query at lo row reference so null must kind point more time each into section system user has note string
    file config types there part its current these do such output alter support configuration input drop
    first в key connection was operator they may given client might chapter es language about access line
    after available order list without before start between end contains need files following net variable
    make check would message change code manual been queries ia up run write names details out log instead
    just character your d double required well we date include directory them their execute memory record
    session additional copy supported class requires work valid state users delete count rules processing
    above variables points last commit exists sets contents per usage page provided here full what backup
    authentication left internal already generated owner were environment found next conf databases generate
    settings begin known security host messages password strings word rule open rather ai procedure long void
    off se my base over systems every original applied present until considered writing needs itself now
    later never notice take condition apply made own http extra none supplied force though applies against
    back keys"""
"""Words that are everywhere in a manual, the most frequent first: a phrase is looked for by its rarest word."""
