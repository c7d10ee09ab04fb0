//! Cues in English, over plain sentences: lower case, contractions written out, spaces single (see `plain`).
//!
//! Must not know: how cues are weighed.

use super::cues::{
    Cue,
    Sense::{Dated, Explicit, Heartbeat, Lasting, Question, Request, SmallTalk, Standing, Transient},
    cue,
};
use tiro_schema::wire::memory::Category::{Conclusion, Constraint, Fact, Goal, Identity, Preference};

/// The table.
pub(super) const ENGLISH: &[Cue] = &[
    // Somebody asks to keep it.
    cue(
        Explicit,
        r"(^|[,;:] |\b(please|you|also|and|to|must|should|will) )remember\b",
        r"\b(do|did) (you|we|i|they)( \w+)? remember|not remember|\b(i|we|they) (still |vaguely |can |to )?remember\b|if (you|i) remember|as you (may )?remember|(^|trying to |try to |hard to )remember (when (we|you|i)|me\b|how we|correctly)|(trying|try|hard|want|cannot) to remember|remember to (run|execute|check it now)",
    ),
    cue(
        Explicit,
        r"^(please )?(note|nb|memo|reminder|for the record|for (your |later |future )?reference|for later)( to self)? ?[:,-]|^(fyi|nb|memo|psa|heads up)\b|^(please )?note (that|the|my|our|this|how)\b|\b(please|also|do) note\b|\b(take|make|keep|leave) (a |an )?(mental |quick )?note (of|that|to|about|:)|\b(keep|bear|have) (this |that |it )?in mind\b|\bdo not (ever )?forget (that|my|the|our|to|i|about|we|:)|\bnever forget (that|to|my|the)\b",
        r"keep in mind that you|\bforget (it|about it)$",
    ),
    cue(
        Explicit,
        r"\bjot (this |that |it )?down\b|\bwrite (this|that|it) down\b|^(please )?(save|store|record|log|memorize|memorise|retain) (this|that|the following|it)( down| fact| info| information| for later| somewhere)? ?[:,.-]|\b(save|store|add|commit|put|write|keep) (this |that |it |the following )?(down )?(in|into|to) (your |the |my )?(long-term )?(memory|notes|profile)\b|\b(just )?so (that )?you know\b|\bi want you to know\b|\byou should know( that)?\b|\bbe aware that\b|\bfor future reference\b",
        "",
    ),
    // Who somebody is.
    cue(
        Lasting(Identity),
        r"\bmy (full |first |last |legal |real |middle |sur)?name is\b|\bi go by\b|\bcall me [a-z]|\bthis is [a-z]+ (from|at|here|speaking)\b|\b(everyone|people|friends) calls? me\b|\bmy pronouns\b",
        r"call me (back|later|when|at|if|tomorrow|tonight|crazy|a|on|in|an|old|stupid|maybe)\b",
    ),
    cue(
        Lasting(Identity),
        r"\bi am (also |currently |now |actually |originally |still )*(a|an|the|from|based|born|living|working|employed|studying|married|single|divorced|engaged|widowed|retired|self-employed|left-handed|right-handed|deaf|blind|color|colour|dyslexic|autistic|jewish|muslim|christian|hindu|buddhist|american|british|german|french|chinese|indian|japanese|spanish|italian|canadian|australian|fluent|bilingual|responsible|new to|proficient|experienced|certified|trained)\b",
        r"\bi am (also |currently |now |still )*(a (bit|little|tad|lot|few|fool|mess)|an idiot|from what|the one (who|that)|the same|working on it|new here)\b|\bam i\b",
    ),
    cue(
        Lasting(Identity),
        r"\bi am (already |now |just |almost |only )*[0-9]{1,2}( years| yrs| yo\b|,| and |$)|\b[0-9]{1,2} years old\b|\bi was (born|raised|brought up|diagnosed)\b|\bi (grew up|come from|hail from)\b|\bi (have )?(moved|relocated|emigrated|immigrated) (to|from|here)\b|\bi used to (be|work|live|teach|play|run|smoke)\b",
        "",
    ),
    cue(
        Lasting(Identity),
        r"\b(i|we) (currently |now |still |also |mostly |both )*(work|teach|study|live|reside|manage|lead|head|own|founded|co-founded|cofounded|graduated|majored|specialize|specialise|freelance|commute|supervise|mentor|coach|volunteer|practice|speak)\b|\bi run (the|a|an|my|our) ",
        r"\b(i|we) (work|lead) on (it|this|that)\b|\blive with (it|that)\b|\bown (it|that)\b|\bi run (into|the (code|script|command|test|tests|app|program|following|server|build|query|migration|job|pipeline))\b|\b(how|when|where|why|can|do|should|if) (i|we) (work|live|manage)\b",
    ),
    cue(
        Lasting(Identity),
        r"\b(my|our) (older |younger |little |big |elder |eldest |oldest |youngest |ex-?|late |best |closest |step)?(wife|husband|partner|spouse|son|sons|daughter|daughters|kid|kids|child|children|baby|brother|brothers|sister|sisters|siblings|mom|mum|mother|dad|father|parents|parent|grandma|grandpa|grandmother|grandfather|grandparents|aunt|uncle|cousin|nephew|niece|boyfriend|girlfriend|fiance|fiancee|roommate|flatmate|boss|manager|supervisor|mentor|colleague|coworker|teammate|assistant|doctor|gp|therapist|dentist|lawyer|accountant|landlord|neighbor|neighbour|friend|dog|cat|puppy|pet|horse|family|company|employer|startup|business|school|university)s?( [a-z]+)?( name)? (is|are|was|were|has|have|works|lives|lived|goes|likes|loves|hates|prefers|needs|wants|speaks|runs|owns|plays|teaches|studies|got|died|passed|moved|called|named|can not|can)\b",
        r"(boss|manager|friend|kids?|dog|cat|wife|husband) (is|are) (here|calling|crying|barking|waiting|yelling)\b",
    ),
    cue(
        Lasting(Identity),
        r"\bmy (current |home |work |personal |phone |mobile |email |e-mail |job |native |new |old |mailing |postal |blood |shoe )*(job|role|title|position|profession|occupation|birthday|birth date|date of birth|anniversary|email|e-mail|phone|number|address|timezone|time zone|hometown|nationality|citizenship|language|mother tongue|type|size|height|weight|github|handle|username|website|blog|degree|major|salary|income|background|experience|religion|zodiac)s? (is|are|was|were|has|runs)\b|\bi have (a|an|one|two|three|four|five|six|[0-9]+|no|twin|several) ?([a-z-]+ )?(kids?|children|sons?|daughters?|twins|dogs?|cats?|brothers?|sisters?|siblings?|degree|phd|masters|bachelors|diploma|parrot|years of)\b|\bi have been (a|an|working|living|teaching|using|playing|married|coding|programming|studying|learning|practicing|vegetarian|vegan|with)\b|\bbeen (a|an) [a-z ]+ (for|since)\b|\bwe are (a|an) (family|team|startup|start-up|company|couple|group|small|non-profit|nonprofit|[a-z]+ (team|company|startup|agency|family|shop|lab))\b|\bmy (phone|shoe|dress) (number|size)\b",
        "",
    ),
    // What somebody likes.
    cue(
        Lasting(Preference),
        r"\b(i|we) (much |strongly |still |always |usually |generally |normally |typically |often |tend to |absolutely |personally |particularly |especially |would |do |only |never |also |both )*(prefer|like|love|enjoy|adore|hate|dislike|detest|loathe|despise|favor|favour|fancy|appreciate|avoid)\b",
        r"\b(i|we) would (also )?(like|love|appreciate) (to|you|your|some|if|it if|help|a (quick )?(hand|summary|list|hint)|any)\b|\b(like|love|hate|enjoy|appreciate|dislike|prefer) (it|that|this|these|those|them|you|what you|how you|the way you|your|the idea|the sound)( idea| help| one| time| so much| a lot)?\b|\bi (like|love|enjoy) to (know|see|hear)\b|\bappreciate\b.*\b(help|advice|time|feedback|it)\b|\bdo (i|we) \w+",
    ),
    cue(
        Lasting(Preference),
        r"\bi do not (much |usually |normally |often |ever |actually |particularly |typically )*(like|enjoy|care for|eat|drink|use|watch|read|smoke|work|take|wear|drive|fly|cook|do|play|listen|answer|need)\b|\bi can not stand\b|\bi (am )?(definitely |absolutely |also )*(not )?(a |an |much )?(big |huge |great |massive )*(fan of|into|fond of|keen on|partial to|more of a|crazy about|obsessed with)\b|^not (a |an |much )?(big |huge |great )?(fan of|into|fond of|keen on)\b|\bi would (much )?(rather|sooner)\b|\bi tend to\b",
        r"do not (like|enjoy|need|use|do) (it|that|this|to know)( now| anymore)?$|\bdo not (work|read) (for|now|yet|at all)",
    ),
    cue(
        Lasting(Preference),
        r"\b(my|our) (all-time |personal |absolute |current |own |new )*(favorite|favourite|favorites|favourites|preferred|preference|preferences|go-to|usual|ideal|least favorite|pet peeve)\b|\bworks best for me\b|\bsuits me\b|\b(gives?|makes?) me (\w+ )?(headaches?|anxious|anxiety|sick|nauseous|sleepy|happy)\b|\b(that is )?how i (like|take|prefer|drink|eat|do) \w+|\bi take my (coffee|tea)\b|\bi am (a |an )?(strict |lifelong |mostly |also )*(vegan|vegetarian|pescatarian|flexitarian|night owl|morning person|early bird|introvert|extrovert|minimalist|foodie|teetotal)",
        "",
    ),
    cue(
        Lasting(Preference),
        r"\b(i|we) (almost |nearly |pretty much )?(usually|always|generally|normally|typically|mostly|never|often|rarely|seldom|only|mainly|exclusively|regularly|tend|stick to|go with) [a-z]+",
        r"\b(i|we) (always|usually|often|only|just) (get|see|receive|got|have) (this|an|the|a|one) (error|warning|message|problem|issue|question)\b|\bi never (got|received|said|mind|thought|knew|heard|saw|asked)\b|\b(do|can|should|did|will) (i|we) (always|only|usually|never)\b|\bi only (see|get|want to|asked|meant|need to)\b",
    ),
    cue(
        Lasting(Preference),
        r"\b(the )?user (also |still |strongly |generally |usually |always |never |does not |really )*(prefers?|likes?|loves?|enjoys?|hates?|dislikes?|wants|favou?rs|avoids|appreciates|uses|drinks|eats)\b|\buser.?s (preferred|favou?rite|preference)",
        "",
    ),
    cue(
        Lasting(Identity),
        r"\b(the )?user (is|was|works|lives|has (a|an|two|three|four|one)|speaks|studies|teaches|owns|runs|comes)\b|\buser.?s (name|dog|cat|wife|husband|partner|son|daughter|mother|father|job|birthday|employer|team|company|timezone|email|home|native)\b",
        r"user is (asking|not sure|trying|looking|here|online|typing|waiting)",
    ),
    cue(Lasting(Goal), r"\b(the )?user (is )?(planning|plans|intends|aims|hopes|wants) to\b", ""),
    // Instructions that hold from now on.
    cue(
        Standing(Preference),
        r"\b(from now on|from here on|from this point|going forward|moving forward|henceforth|in (the )?future|until further notice|unless i (say|tell|ask|specify|explicitly|mention|request)|unless (told|stated|specified|otherwise|asked)|by default|as a (general )?rule|at all times|every single time|each and every|no matter what|permanently|for all (future|my|our))\b|\b(every ?time|each time|any ?time|whenever) (i|you|we|someone|there|it|a|an|the)\b",
        r"\b(what|why|how|is|does|do|which|where)\b.{0,60}\b(by default|in (the )?future|whenever|every ?time|at all times)\b|^(every ?time|whenever|each time) (i|we) (run|click|open|try|start|save|restart|press|build|call|launch)\b",
    ),
    cue(
        Standing(Preference),
        r"\bwhen(ever)? (i|you|we|someone) (am |are |will |may |do )?(ask|asks|asking|show|showing|write|writing|request|requesting|mention|mentioning|talk|talking|send|sending|say|need|want|give|giving|answer|answering|explain|explaining|generate|generating|create|creating|discuss|discussing|provide|providing|suggest|suggesting|recommend|recommending|draft|drafting|reply|replying|respond|responding|code|describe|describing|list|listing|format|formatting|summarize|summarise|summarizing|present|presenting|review|reviewing|share|sharing|book|plan|planning|bring up|inquire|use|refer|quote|cite|cook|order|schedule|address|speak|inquiring|looking for)\b.{2,}|^when (answering|responding|replying|writing|coding|explaining|discussing|generating|giving|providing|talking|suggesting|recommending|summarizing|formatting|drafting|creating|showing|presenting|reviewing)\b",
        r"\bwhen (did|do|will|should|can|are|is)\b|\bwhen (i|we) (use|create|send|write|need|list|code) (it|this|that|the)\b.{0,40}\b(error|crash|crashes|fails?|failed|breaks|nothing|get|throws)\b",
    ),
    cue(
        Standing(Preference),
        r"^(please |ok |okay |so |also |and |but |oh )*(always|consistently)\b|\b(should|must|please|to|and|will|can you|could you|would you|will you|you|i want you to|make sure (to|you|that you)|be sure to|sure|i need you to|try to) (please )?(always|consistently)\b|\b(in|for|with|across|to) (all|every|each|any|your)( of)? ?(the |your |my |our )?(future |code |written |upcoming )*(answers?|responses?|replies|reply|messages?|emails?|examples?|snippets?|explanations?|summaries|drafts?|outputs?|recommendations?|suggestions?|recipes?|itineraries|commits?|commit messages|conversations?|projects?|reports?|documents?)\b",
        r"\b(what|why|how|does|do|is|did|has|have)\b.{0,40}\balways\b|\bfor (your|all your) (response|reply|answer|message|suggestion|recommendation|explanation)s?( so far)?$|\b(thanks?|thank you)\b",
    ),
    cue(
        Standing(Preference),
        r"\b(answer|respond|reply|speak|talk|write|communicate)( back)?( to)?( me)? (only |always |strictly |exclusively )*in (plain |simple |formal |informal |british |american |simplified |traditional |mexican |brazilian )*(english|french|german|spanish|chinese|mandarin|japanese|korean|italian|portuguese|dutch|russian|arabic|hindi|polish|turkish|language|bullet points|markdown|full sentences|short sentences|a (formal|casual|friendly|professional) tone)|^(please )?(keep|make) (your|all|the|my) (answers?|responses?|replies|emails?|messages?|explanations?|summaries|tone|code|examples?|comments?|commits?)\b|^(please )?stick (to|with)\b|\bi (would like|want|expect|need|like) (you to (always|never|only|use|call|keep|address|answer|respond|include|avoid|stop|start)|all|every|each|your (answers|responses|replies))\b|^(please )?(prefer|favor|favour)\b",
        "",
    ),
    cue(
        Standing(Constraint),
        r"^(please |ok |okay |so |also |and |but |oh |pls )*never [a-z]+|\b(should|must|please|to|and|will|can you|could you|you|may|are) never\b|\b(please |you should |you must |pls |to |and |, )?do not (ever |under any circumstances |directly |just |even )*(use|suggest|recommend|include|give|show|call|mention|send|add|write|assume|put|schedule|push|store|share|touch|change|deploy|restart|book|delete|remove|commit|merge|edit|modify|reply|order|buy|bring|invite|tell|ask|contact|email|phone|text|publish|post|install|upgrade|update|run|start|open|talk|disclose|expose|log|hardcode|rely|mix|skip|feed|serve|cook|eat|drink|offer|reveal|discuss|repeat|translate|summarize|apologize|explain|abbreviate|rename|exceed|plan|accept|approve|release|let|allow|leave|wake|disturb|interrupt|knock|enter|mess|go|spend|sell|throw|wash|water|park|make|create|wear|connect|bypass|disable|enable|cache|round)\b",
        r"\b(you|we|they|i|he|she|it|why|people|users|if you|if we|if i) do not\b|do not (worry|bother|mention it|ask me why|tell me (you|that))\b|do not (run|start|open|change|touch|delete|do|use|add|send|make|go|tell|explain|update|let|leave) (it|that|this|anything|yet|now)( yet| now| again)?$|never (mind|heard|seen|knew|thought|say never|give up|stop|quit|know|shy)|do not (give up|let (it|them|that|anything|anyone|the|this|your))|^why\b",
    ),
    cue(
        Standing(Constraint),
        r"^(and |also |please )*no (more )?[a-z-]+s?( [a-z]+)?,? please$",
        "no (thanks|thank|need|problem|worries|rush|idea|way)",
    ),
    // What must or must not be.
    cue(
        Lasting(Constraint),
        r"\b(must|shall|must not|have to be|has to be|need to be|needs to be|had better|supposed to be|ought to)\b|\b(is|are|be|was|were|being) (not |strictly |absolutely |now |also )*(allowed|permitted|forbidden|prohibited|banned|mandatory|required|compulsory|off limits|off-limits|non-negotiable|limited|restricted|capped|reserved)\b|\bunder no circumstances\b|\bno exceptions?\b|\bat (the )?(most|least|minimum|maximum)\b|\bno (more|less|fewer|later|earlier|longer|bigger) than [0-9a-z]|\b(not|never) (to )?exceed\b|\bnot a (cent|penny|minute|day) (more|later)\b|\b(hard |strict |upper |lower |absolute )(limit|cap|deadline|rule|maximum|minimum|requirement)\b|\b(limit|budget|deadline|cap|quota|maximum|minimum|max|rule|policy|curfew)( [a-z0-9]+){0,5} (is|are|of|=)\b|\bbudget of\b",
        r"\bmust be (nice|fun|tired|kidding|joking|a joke|hard|tough|great)\b|\byou must be\b|\bi must (say|admit|go)\b|\bmust (have|of) \w+(ed|en|t|n)\b|\bmust be (so |really |very |quite |such )?(incredible|amazing|exciting|scary|meaningful|wonderful|awesome|proud|a wonderful|a great|an|the|difficult|challenging|lovely|rewarding|frustrating|annoying)\b|\bmust (feel|see|read|watch|have felt)\b|\bif i must\b|\bno longer than usual\b",
    ),
    cue(
        Lasting(Constraint),
        r"\ballerg(y|ic|ies)\b|\bintoleran(t|ce)\b|\bc(o)?eliac\b|\bdiabet(ic|es)\b|\bepilep(sy|tic)\b|\basthma(tic)?\b|\bi am pregnant\b|\bwheelchair\b|\b(kosher|halal|gluten-free|lactose)\b|\b(high blood pressure|heart condition|pacemaker|peanuts? allergy|anaphyla\w+|migraines|vertigo)\b|\b(can not|may not|is not able to|are not able to) (eat|drink|have|use|exceed|afford|access|lift|drive|work|attend|travel|share|take|leave|accept|tolerate|store|send|run on|go over|digest|enter|legally|be (used|shared|changed|stored|deployed|merged|later|more|longer|older))\b|\bonly ([a-z]+ ){1,4}(is|are|can|may|has|have) (allowed|permitted|able|to|approve|access|merge|deploy|edit|sign|be|authorized)\b|\bneeds? (a |an |the |explicit |written |two |prior )*(sign-off|signoff|approval|permission|reviewers?|reviews?|authorization|to stay|to leave)\b|\brequires? (a |an |the |explicit |written |two |prior )*(sign-off|approval|permission|reviewers?|reviews?|authorization|consent|signature|notice)\b|\b(every|each|any|all) [a-z]+( [a-z]+)? (needs?|requires?|must|has to|have to|should)\b|\bno [a-z]+( [a-z]+)? (on|after|before|without|in|during|at|over|under|between|inside|allowed|outside) |\bwithout (prior |written |explicit |my )?(approval|permission|review|consent|sign-off)\b|\boff[- ]limits\b",
        r"\bno (problem|worries|idea|way|rush|need|luck|news|change|clue|matter|doubt|point|reason|progress|result|results|response|output|difference|error|errors) (on|after|before|without|in|during|at|over|with) ",
    ),
    // What somebody is after.
    cue(
        Lasting(Goal),
        r"\b(my|our|the|his|her|their|teams?) ([a-z-]+ ){0,3}(goal|goals|aim|objective|objectives|target|ambition|dream|mission|resolution|intention|aspiration|milestone|okr)s?( [a-z0-9]+){0,6} (is|are|was|to|:)\b|\b(one|some) ?day (i|we)\b|\bbucket list\b|\blong[- ]term\b|\bi dream of\b|\bnew years? resolution\b|^goal:|\bi am determined to\b",
        "",
    ),
    cue(
        Lasting(Goal),
        r"\b(i|we|the team|our team|the company|my team|she|he|they|my [a-z]+) (am |are |is |have been |has been |was |were )?(still |currently |also |now |actively |secretly |slowly |all )*(aiming|planning|hoping|trying|training|preparing|saving|working (towards?|on|to)|intending|striving|learning|studying|building|developing|writing a|launching|migrating|designing|organizing|organising|applying (for|to)|looking (for (a|an) (new|job|house|apartment|flat|role)|forward to (moving|becoming|starting))|going to (move|start|become|launch|study|quit|get married|retire|build|release|migrate|adopt|have a baby)|considering)\b|^(learning|training (for|to)|studying (for|to)|saving (up )?(for|to)|preparing (for|to)|trying to (read|learn|quit|lose|eat|run|save|finish|become|get (fit|better|into)|drink less|cut))\b",
        r"\b(trying|hoping) (to )?(understand|figure|find out|see|get (this|it|that)|again|this|it|that|now|you|do (this|that|it)|run (this|it|the)|open|access|debug)\b|\bworking on (it|that|this)\b|\b(was|were) (just )?(hoping|wondering|trying)\b|\bhow (i|we) (am|are)\b",
    ),
    cue(
        Lasting(Goal),
        r"\b(i|we|she|he|they|the (team|company|client|customer|boss)|my [a-z]+|our [a-z]+) (eventually |still |also |would |do |ultimately |now |finally )*(wants?|plans?|aims?|hopes?|intends?|aspires?|wishes|wish|expects?|needs?|like|love|have|has|wanted|planned|hoped) to (eventually |also |finally |one day |be able to )?[a-z]+",
        r"\bto (know|see|ask|understand|say|hear|check|talk|thank|apologize|apologise|go$|be honest|clarify|confirm|make sure|admit|add that|point out|figure|look|think|leave|pee|sleep|eat$|nap|rest|wait|stop|do (this|that|it|so|something)|try (this|that|it|again)|get (some|this|it|back|going|up)|discuss|double-check|verify|be clear|share|mention|find out|compare|debug|meet you|help|run (it|this|the)|have to)\b|\b(needs?|have|has) to be\b|\bdo (i|we) (need|have|want)\b|\byou to\b",
    ),
    cue(
        Lasting(Goal),
        r"\b(by|before|until) (the )?(end of|next|this|early|late|mid|january|february|march|april|may|june|july|august|september|october|november|december|20[0-9]{2}|q[1-4]|summer|spring|winter|fall|autumn|christmas|easter)\b.*|\bwithin (the (next|coming) )?([a-z]+|[0-9]+) (years?|months?|weeks?|quarters?|days)\b",
        r"\b(is|are|will) (it|you|this|they|there)\b",
    ),
    // What was found out or decided.
    cue(
        Lasting(Conclusion),
        r"\b(decided|agreed (on|to|that)|concluded|settled on|opted for|opted to|chose|chosen|picked|selected|determined that|figured out|found out|discovered|realized|realised|learned that|confirmed that|verified that|ended up)\b|\bdecision\b.{0,30}\b(is|was|:|to)\b|\bin the end\b|\bafter (some |much |a lot of )?(testing|discussion|debate|investigation|research|benchmarking|profiling|review)\b|\bwe are (keeping|going with|sticking with|staying (on|with)|dropping|moving|switching|using|adopting|replacing|retiring)\b",
        r"\b(have|has) (you|we|they) decided\b|\bnot (yet )?decided\b|\b(can|could|did|have|help|how|let) (you|me|us|i) .{0,20}(figure[d]? out|find out)|\bfind out\b",
    ),
    cue(
        Lasting(Conclusion),
        r"\broot[- ]cause\b|\bturn(s|ed) out\b|\bthe (real |actual |main |only |best |final |right |temporary |permanent )*(fix|solution|culprit|problem|issue|reason|cause|trick|answer|workaround|conclusion|takeaway|verdict|lesson|bug|bottleneck|mistake|key|secret)( [a-z0-9-]+){0,6} (is|was|were|came|turned|lies|lay|has been)\b|^(workaround|fix|solution|conclusion|decision|lesson|takeaway|tip|tl;?dr|finding|result|resolution|outcome|cause|learning)s?( learned)? ?[:-]|\blessons? learned\b|\b(caused|fixed|solved|resolved|triggered|explained|prevented|worked around) (it |this |that |them )?(by|with|via)\b|\bdue to\b|\bbecause (of|the|it|we|our|i|they)\b|\b(came|stems|stemmed|resulted|comes) from\b|\b(does|did) the (trick|job)\b",
        r"\bthe (problem|issue|question|answer) is (that )?(i|not|still)\b|\bif the (problem|issue)\b",
    ),
    cue(
        Lasting(Conclusion),
        r"\b(works?|worked) (fine |well |great |only |best |reliably |ok )*(with|if|when|after|on|best|by|for|without|until|under)\b|\bfinally (works?|worked|solved|fixed)\b|\b(the )?best (results?|performance|throughput|accuracy|setting|option|value|approach)\b|\b(faster|slower|better|worse|cheaper|safer|more reliable|more stable|smaller|larger|quicker) than\b|\b(brought|cut|reduced|increased|improved|lowered|dropped|doubled|halved|sped)\b.{0,40}\b(by|to|from|down|up)\b|\b(solves?|resolves?|prevents?|fixes|avoids?|triggers?|breaks) (the|a|an|all|most|any)\b|\bonly (reproduces|happens|occurs|fails|works)\b|\bmade (the|it|our) .{0,40}(reliable|faster|stable|slower|work|smaller|better)\b|\b(make sure|ensure|be sure|be careful|beware)\b",
        r"\b(it|this|that) (works|worked) (now|fine|great|well|perfectly|for me)?$|\bmake sure (you|to) (read|check|have a look)\b",
    ),
    cue(
        Lasting(Conclusion),
        r"\b(no longer|not .{0,30} anymore|any longer|instead of|in favou?r of|rather than|as opposed to)\b|\b(switch|switched|switching|mov(e|ed|ing)|migrat(e|ed|ing)|upgrad(e|ed|ing)|downgrad(e|ed|ing)|chang(e|ed|ing)|shift(ed|ing)?|convert(ed|ing)) ([a-z0-9-]+ ){0,4}(from|to|over|away)\b|\breplac(e|ed|es|ing) .{1,40} (with|by)\b|\b(renamed|deprecated|superseded|postponed|rescheduled|cancell?ed|discontinued|sunset|phased out|rolled back|reverted)\b|\bscrap (that|the|it)\b|\bchanged my mind\b|^(correction|update|edit|change|new plan)s? ?[:,-]|\b(going|go|went|stick|stuck|sticking|stay) (back )?with\b|\bwe will (use|go|keep|stick|switch|move|stay|drop|adopt|support|host|run|not)\b|\b(is|are) now\b|\bnow (use|uses|runs|lives|on|called|owned|handled|requires)\b|\b(dropped|dropping|ended|ending|added) support\b|\bforget (about )?[a-z]+, (we|i|use|it)\b|\bused to be\b|\btook over\b|\bactually,? (it|we|the|i|my|our)\b",
        r"\b(it|this|that) is now\b|\bgo with (it|that|this|you|me)$|\b(how|can|could|should|do) (do |can |could |should |to )?(i|we|you)? ?(switch|move|migrate|change|replace|convert|upgrade)\b",
    ),
    // Facts that name what they are about.
    cue(
        Lasting(Fact),
        r"\b(port|host|hostname|server|database|db|endpoint|url|branch|repo|repository|bucket|cluster|namespace|dashboard|version|timeout|token limit|rate limit|region|environment|env|staging|production|prod|cron|ticket|password policy|license|licence|codename|config|default|prefix|domain|subnet|queue|topic|schema|table|path|folder|directory|file|api|service)s?\b[^?]{0,40}\b(is|are|was|runs?|lives?|listens?|uses?|stands|stays|sits|at|on|under|in|called|named|=|:)\b|\b(is|are) (located|stored|kept|hosted|deployed|owned|maintained|managed|handled|called|named|responsible|based|written|configured|set|scheduled|due|reachable|available|served|known|codenamed|installed|mounted)\b|\b(owns|maintains|manages|handles|founded|speaks|reports to|works (at|for|as|in)|lives in|is in charge|leads|runs the)\b",
        r"\b(service|server|it|this|that|build|file|api) (is|was) (down|up|slow|broken|running|failing|ready|online)( again| now)?$",
    ),
    // When.
    cue(
        Dated,
        r"\b(yesterday|tomorrow|last (night|week|month|year|summer|winter|spring|fall|autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|december|june|may|march)|next (week|month|year|summer|winter|spring|fall|autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|january|february|march|april|may|june|july|august|september|october|november|december)|(a|one|two|three|four|five|six|few|[0-9]+) (days?|weeks?|months?|years?|hours?) ago|(on|every|each|since|until|till|by|this|from) (the )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends?|[0-9]{1,2}(st|nd|rd|th)))\b|\b(january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|may)\.? [0-9]{1,4}\b|\b[0-9]{1,2}(st|nd|rd|th)?( of)? (january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b|\b(in|since|until|from|of) ((early|late|mid) )?((january|february|march|april|may|june|july|august|september|october|november|december),? )?(19|20)[0-9]{2}\b|\b[12][0-9]{3}-[01][0-9]-[0-3][0-9]\b|\b(at|by|before|after|until|till|from) [0-9]{1,2}([:.][0-9]{2})? ?(am|pm|a\.m|p\.m|o clock)|\bat [0-9]{1,2}[:.][0-9]{2}\b|\b[0-9]{1,2} ?(am|pm)\b",
        "",
    ),
    // Questions without their mark.
    cue(
        Question,
        r"^(so |and |but |ok |okay |hey |hi |well |um |also |sorry |then |btw |oh |please )*((what|why|how|who|whose|whom|where|when|which)( else| exactly| about| kind of| type of| sort of| many| much| long| often| far| old| big| come| time| one| of (these|those|the)| [a-z]+)? (is|are|am|was|were|do|does|did|can|could|should|would|will|to|has|have|had|if|happens|happened|might|may|shall|must)\b|(is|are|am|was|were|do|does|did|can|could|should|would|will|shall|have|has|had|may|might) (it|i|you|we|they|he|she|there|this|that|these|those|the|a|an|my|your|our|his|her|their|any|anyone|anybody|someone|anything|people|[a-z]+ (a|the|be|handle|support|work|run|use|have|faster|better|possible|good|safe|enough|worth|free|available|supported|allowed|still|considered))\b)",
        r"^(what|how|why|where|when) (i|we|you|he|she|they|it|my [a-z]+|the [a-z]+) (is|are|am|was|were|do|does|did|have|had|has|will|can|could)\b|^(what|how|why|where|when) (i|we) .{3,60}\b(is|was|:)|^(have|had) a\b|^may (is|was)\b|^will (is|was|has) |^(do|does|did|can|could|should|would|will|is|are|was) not\b",
    ),
    cue(
        Question,
        r"^(so |and |but |hey )*(any (idea|ideas|thoughts|suggestions|tips|chance|recommendations|advice|clue|luck|news|update|updates|way)|what about|how about|how come|why not|what if|what the|what else|what now|who knows|wondering (if|what|why|how|whether)|thoughts|does anyone|anyone know)\b|\b(i wonder|i was wondering|i am wondering|do you (know|think|remember|have|mind)|did (you|i) (know|say|tell|mention)|i (want|would like|would love|need) to (know|ask|understand|learn more)|i have (a|another|one|some) (quick )?questions?|i am (curious|not sure (if|how|why|what|whether|which))|i do not (know|understand) (how|why|what|if|whether|which|where)|i (can not|could not) figure out|not sure (if|how|why|what|whether|which)|is there (a|an|any)|are there any|can anyone|could anyone|whats the|what is the (best|difference|point|right))\b",
        "",
    ),
    // Work to be done now.
    cue(
        Request,
        r"\b(can|could|would|will) (you|u|someone|we|ya)\b|\bwould you mind\b|\b(help|show|give|tell|send|find|get|make|write|bring|teach|walk|remind|buy|order|read|sing|draw) me\b|\blets (see|try|do|start|go|move|talk|look|get|take|begin|continue|work|focus|run|test|check|just|build|write|make|have|play)\b|\bi (need|want|would like|would love) (you to|your help|some help|help|advice|your advice|some advice|a hand|a summary)\b|\b(looking for|need|appreciate) (some |any )?(help|advice|guidance|suggestions|tips|feedback|recommendations|your help)\b|\bgo (ahead|on)\b|\bcarry on\b|\bhave a look\b|\btake a look\b|\bfeel free to\b|\bdo (it|that|this) (again|now|for me)\b|^(i )?need (a|an|some|the) [a-z]+( [a-z]+)? (that|to|for|which|in)\b|^looking for (a|an|some)\b|^(please|plz)\b|\bplease$|\bplease [a-z]+|\bif you (could|can|would)\b|\bi am asking you\b",
        r"^(yes|no|more|thanks) please|\bremind me (that|of)\b",
    ),
    // Manners.
    cue(
        SmallTalk,
        r"^(oh |wow |haha |well |ok |hey )*(what a (lovely|nice|great|beautiful|day|relief|pity|shame|mess|surprise)|(have|had) a (nice|good|great|lovely|safe|wonderful|pleasant|happy)|happy (new|birthday|friday|monday|holidays|weekend|thanksgiving|easter)|merry|good (morning|afternoon|evening|night|day|job|work|point|luck|one|to (know|hear|see))|how (is|are) (it|you|things|everything|your day|life|everyone) ?(going|doing|today|been)?|how have you been|nice (to|one|work|job|weather|day|try)|great (work|job|to|news|idea|stuff)|(that|this|it) is (so |really |very |just |pretty |absolutely |truly )*(great|amazing|awesome|cool|nice|funny|hilarious|interesting|perfect|wonderful|helpful|fantastic|fine|ok|okay|good|fair|lovely|sad|crazy|weird|brilliant|impressive|sweet|true|right|correct|incredible)|(that|this|it) (makes sense|helps|sounds|looks (good|great|nice|fine|ok|right|correct)|did it|was (really |very |so |super )*(helpful|great|fun|useful|fast|quick|nice|easy))|(makes|making) sense|sounds (good|great|like a plan|fine|fun|nice|reasonable)|looks (good|great|nice|fine)|you (are|were|have been) (so |very |really |too |absolutely |truly )*(the best|right|welcome|amazing|awesome|great|helpful|kind|a lifesaver|a star|a legend|brilliant|funny|smart|fast|sweet)|(thanks|thank you|thx|ty|cheers|much appreciated|many thanks|congrats|congratulations|bravo|kudos)|see (you|ya)|talk (to you )?(soon|later)|take care|good ?bye|bye|welcome back|sleep well|sorry (about|for|to hear)|my (bad|pleasure)|no (problem|worries|biggie|need|thanks|thank you|rush)|never ?mind|exactly( what)?|i (see|agree|understand|get it|appreciate it)|(i )?(love|like) (it|that|this)|you too|same here|likewise|fair enough|all good|not bad|i am (fine|good|ok|okay|great|well|glad|so glad|impressed)|me too|of course|i hope you|hope (you|that helps))\b",
        "",
    ),
    cue(
        SmallTalk,
        r"\bkeep (it|that|this) up\b|\bkeep (going|pushing|shining|smiling)\b|\byou (have )?got this\b|\b(so |really |very )?(proud|happy|glad|thrilled|stoked|excited) (of|for) you\b|\brooting for you\b|\bhere for you\b|\bway to go\b|\bgood (for|on) you\b|\bglad (you|to (hear|help|see)|i could|that (helped|worked)|it (helped|worked))\b|\bmeans (a lot|the world|so much)\b|\byou are (doing|making) (so |such |a |an |really )*(great|awesome|amazing|fantastic|good|well|wonderful|incredible|difference)\b|\byou (did|rock|nailed|crushed|made my day)\b|\b(good|nice|great) (bot|one|job|work|catch|question|point|call)\b|\bi am (so |very |really )?(impressed|glad|grateful|thankful|touched|flattered|speechless|honored)\b|\bthat is what i (meant|wanted|needed|thought)\b|\b(super|very|so|really|incredibly) helpful\b",
        "",
    ),
    // This moment.
    cue(
        Transient,
        r"\bi am (so |very |really |a bit |a little |kind of |super |too |feeling |pretty |quite |getting |still |just |already |totally |now |also )*(tired|exhausted|sleepy|hungry|starving|thirsty|bored|cold|hot|sick|busy|late|stressed|sad|happy|excited|annoyed|angry|frustrated|confused|stuck|lost|back|here|done|ready|off|out|home|free|wet|nervous|worried|in (a|the) (meeting|call|rush|hurry|middle)|on (a call|my way|the (bus|train|phone|road|go|metro|subway))|about to|heading|running|going (to (grab|get|take|be|eat|sleep|bed|lunch|go|call|try|check|see|the)|out|home|for)|leaving|away|afk|waiting|looking (at|into|it)|checking|having (lunch|dinner|breakfast|coffee|a)|drinking|eating|watching|sitting|typing|testing|trying|rebooting|restarting|downloading|in bed|at (lunch|the (gym|airport|store|door|office|dentist)))\b|\bfeeling (a |so |really |very )*(bit|little|tired|sick|good|great|down|better|under|sleepy|lazy|off)\b",
        r"\b(tired|sick) of\b|\bfor (years|months|decades)\b|\bfree on\b|\b(i|we) (am|are) (late|off|out|away|free|busy|leaving|back|home) (on|until|till|from|every|between|in (january|february|march|april|may|june|july|august|september|october|november|december))\b",
    ),
    cue(
        Transient,
        r"^(i am )?(still )?(on|in|at) (the |a |my )?(train|bus|subway|metro|meeting|call|car|plane|gym|airport|road|phone|way|shower|kitchen|bed|queue|line)\b|^nothing (happens|happened|works|changed|changes|yet)\b|\b(can not|could not) (talk|type|chat|focus|sleep|think) (now|right|at|today|straight|anymore)?|\bsignal is\b|\b(my|the) (laptop|phone|battery|computer|pc|mac|wifi|internet|screen|mouse|keyboard) (is |has |just |keeps? )*(dying|dead|dies|died|frozen|freezing|froze|crashed|crashing|slow|stuck|down|out|acting up|overheating|broken|restarting|updating|charging)|\b(brb|afk|bbl|gtg|g2g|omw|ttyl|bbiab|be right back|hang on|hold on|hold up)\b|\b(one|just a|just one|gimme a|give me a|wait a|in a|half a) (sec|second|moment|minute|min|mo)\b|^wait\b|\bback (soon|in a|in [0-9]|later|at my desk|shortly)\b|\brunning ([0-9a-z]+ ){0,3}(late|behind)\b|\bstuck in (traffic|a meeting)\b|\blet me (check|see|think|try|look|get back|finish|know|take|read|test|run|grab|reboot|restart|double)\b|\btrying (that|this|it|again|now|out)\b|\btry(ing)? (that |this |it )?now\b|\bjust (woke|got (back|home|here|up|in)|arrived|finished|landed|ate|had (lunch|dinner|coffee)|started|ran|tried|sat)\b|\b(head|heading|going) (out|home|off|to bed|to lunch)\b|\babout to\b|\bright now\b|\bat the moment\b|\bas we speak\b|\bfor the moment\b",
        "",
    ),
    cue(
        Transient,
        r"\b(it|this|that|the (build|test|tests|server|app|page|code|deploy|job|site|pipeline|command|wifi|internet|network|connection|download|install)) (is |are |was |just |has |has just |still |keeps |seems |did |does |suddenly |finally )*(still |not |now |just |finally |already )*(raining|snowing|sunny|hot|cold|late|working|broken|failing|running|loading|down|up|crashed|crashing|failed|worked|broke|works|hangs|hung|froze|frozen|died|stopped|happened|happening|work|load|fails|passes|passed|green|red|slow|stuck|done|finished|gone|back)( again| now| fine| here| too| at last| this time)*( right now| today)?$|\bstill (the same|failing|broken|running|not (working|there|sure)|loading|waiting|nothing|no luck|happening|here|there|stuck|compiling|crashing|getting)\b|\bsame (error|issue|problem|thing|result|output|here|again)\b|\b(it )?(crashed|failed|broke|happened|hung) again\b|\bmy (head|back|stomach|neck|eyes|feet|throat|tooth|legs?) (is |are )?(hurts?|hurting|aches?|aching|killing|sore)\b|\b(have|having|got) a (headache|cold|fever|hangover|stomachache)\b|\bneed (a |some |more )*(coffee|nap|break|sleep|caffeine|drink|snack)\b|\bcoffee first\b|\bunder the weather\b|\b(restarting|rebooting|restarted|rebooted|updating|charging|closing|opening) (my|the) (laptop|computer|pc|phone|machine|router|browser|terminal|ide)\b|\balmost (done|there|home|finished)\b|\bi will (be (back|there|right|home|late)|try|check|see|get back|let you know|do (that|it)|look|think|go|call you|ping you|have a look|test)\b|\bit is (raining|snowing|freezing|boiling|hot|cold|so hot|so cold|late|noisy)\b|\b(what a|long|rough|tough|bad|busy|crazy) day\b|\b(battery|phone) is (at|dying|dead|almost)\b",
        "",
    ),
    // Programs that say they are alive.
    cue(
        Heartbeat,
        r"^(\S+ ){0,2}heart ?beat|\bheart ?beats? (ok|received|sent|ack|alive|seq|tick|passed|normal|signal)|^(\S+ ){0,1}keep-?alive( |$)|\bi am alive\b|^uptime\b|\bhealth-? ?check (passed|ok|succeeded|is ok)\b|\bstill alive\b|^(ping|pong|ack|noop|no-op|tick|alive|ready|online|idle|booting|connected|initialized|initialised|standby)[.! ]*$|\b(system|daemon|server|service|services|agent|bot|process|boot|session|worker|scheduler|gateway|plugin|plugins|module|modules|assistant|client|node|watcher|kernel|runtime|monitor|listener|connection|startup|initialization|initialisation|handshake|shutdown|sync|synchronization|memory|context|profile|config|configuration)s? (is |are |has |have |was |now |been |just |successfully |fully )*(boot|booted|started|starting|starting up|online|up and running|ready|initialized|initialised|initializing|resumed|connected|reconnected|restored|established|complete|completed|loaded|loading|alive|idle|healthy|nominal|operational|restarted|stopped|terminated|refreshed)\b|\b(no|nothing) (new |pending |active |other )*(tasks?|messages?|updates?|jobs?|events?|requests?|notifications?|to (do|report|process))( pending| found| to (do|process|report)| right now| at this time| in queue)?\b|\b(waiting|standing by|listening) for (instructions|input|tasks|commands|requests|connections|messages|user|next|new|further)\b|\bstanding by\b|\b(going (back )?to sleep|sleeping for [0-9]|entering (idle|sleep)|awaiting (instructions|(user )?input|tasks|commands|requests|orders))\b|^\[?(boot|init|startup|heartbeat|keepalive|status|system)\]? ?[:\]-]|\ball (systems|services|checks) (are |is )?(online|operational|nominal|ok|up|healthy|green|passed|running)\b|\bloading (modules|plugins|config|configuration|components|extensions|profile|context|environment)\b|\b(cron|scheduled) (run|check|tick|job) (started|ok|complete|completed|finished)\b",
        r"\b(means|mean|closed|closes|causes|caused|sent to|are|interval|every|must|should|timeout|because|decided|configured|set to|stored|port|after|when|if|needs|requires|wrote|built|we|our|my|monitors|sends|uses|takes|on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)|in (19|20)[0-9]{2}|last|yesterday)\b",
    ),
];
