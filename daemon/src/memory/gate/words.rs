//! Words that carry no content, words of small talk, and verbs that order work; how much a sentence says besides them.
//!
//! Must not know: what is decided from it.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English words that stand for nothing by themselves.
const FUNCTION: &str = "a an the this that these those it its he she they we you i me him her them us my your his our their mine \
yours ours theirs myself yourself itself who whom whose which what when where why how and or but nor so yet if then than \
because while as until although though unless since of at by for with about against between into through during before after \
above below to from up down in out on off over under again further once here there all any both each few more most other some \
such no not only own same too very can will just should now would could may might must shall do does did doing done have has \
had having be am is are was were been being get got getting gets go goes going went gone come comes came let lets make makes \
made put take takes took say says said s t don ll re ve m d also even still ever never always maybe perhaps quite rather much \
many lot lots bit little thing things something anything nothing everything stuff one ones way kind sort like already else \
around back another actually really well yeah yep nope oh um uh er ah eh hm hmm hmmm mm mhm please ok okay";

/// English words of greeting, thanks, praise and assent.
const SMALL: &str = "hi hello hey heya hiya yo howdy greetings morning afternoon evening night goodnight bye goodbye cya ciao \
thanks thank thx ty tysm cheers appreciated appreciate appreciation grateful welcome np yw yes yep yup yeah yea ya nah nope no \
sure ok okay k kk okey okie alright right fine good great nice cool awesome amazing excellent perfect wonderful fantastic \
brilliant lovely sweet neat super superb terrific fabulous incredible impressive solid lol lmao rofl haha hahaha hahahaha hehe \
heh hah wow whoa omg oops ugh yay hooray woohoo congrats congratulations bravo kudos sorry apologies pardon excuse worries \
problem lifesaver legend star mate buddy pal dude bro man friend guys everyone folks team all sir madam dear helpful help sounds \
sense exactly totally absolutely definitely indeed agreed agree true correct understood noted gotcha roger copy cute funny \
hilarious interesting love day weekend week friday monday luck care see later soon tomorrow time happy glad pleased enjoy merry \
birthday christmas year new best interesting hope mean know guess think never mind whatever anyway nevermind ttyl brb omw gtg \
btw tbh imo welcome bless hugs xoxo thanks! much so very you too lot million bunch ton";

/// English verbs that order work when a sentence begins with them.
const TASKS: &str = "run rerun execute open close show list print find search look lookup check recheck verify fix debug refactor \
write rewrite create make add append remove delete drop update upgrade translate summarize summarise explain describe tell give \
send compare generate regenerate calculate compute convert rename install uninstall deploy redeploy restart reboot start stop \
build rebuild test retest compile commit push pull merge rebase review proofread draft redraft continue proceed try retry help \
read play set turn book order call schedule remind draw sketch plot design implement code sort filter group count format \
reformat simplify shorten expand extend elaborate improve optimize optimise clean cleanup edit correct paraphrase rephrase \
reword outline brainstorm suggest recommend propose pick choose select guess estimate analyze analyse evaluate assess critique \
solve prove derive simulate pretend act imagine roleplay teach quiz ask answer repeat undo redo revert cancel download upload \
export import copy paste move scan ping curl fetch grab get load save parse extract split join combine replace insert highlight \
annotate document comment lint benchmark profile monitor trace log inspect investigate research google browse visit email text \
message reply respond post share publish submit apply buy pay reserve plan organize organise prepare cook bake sing tell say \
spell define cite name identify classify label rank rate sum total square double go come wait hold let lets give show bring tell";

/// Words that, second in a sentence, make its first word a verb that orders.
const ORDER_OBJECTS: &str = "the a an this that these those it me my our your his her their them him us all any some every each \
if whether what how why when where which who for to up down out over into on in with about again as both one two three four five \
six seven eight nine ten more another between";

/// Verbs and copulas that make a statement of a sentence.
const FINITE: &str = "is are was were has have had does did will would can could should must may uses use used runs run ran lives \
live lived works work worked likes like wants want needs need owns own keeps keep kept takes took goes went comes came makes made \
gets got says said means contains holds stores handles supports requires expects returns belongs starts started ends ended opens \
opened closes closed costs weighs leads led joined left moved bought sold built wrote read reads writes writes speaks speak \
teaches taught plays play prefers expires expired begins began happens happened became becomes remains stays sits stands \
listens accepts allows allowed rejects fails failed sends sent receives manages reports talks talked met meets visited signed \
launched released shipped broke fell rose grew won lost died married graduated retired drives drove eats ate drinks drank \
sleeps wears hates loves knows knew thinks thought feels felt deploys deploy ships hosts serves covers includes excludes \
depends relies ignores resets rotates syncs caches logs retries times maps points connects binds blocks bills charges pays \
approves approved owes earns rents hired fired promoted";

/// Chinese characters that stand for nothing by themselves.
const HAN_FUNCTION: &str = "的了吗呢吧啊呀嘛哦噢嗯哈啦哒喔诶哎唉我你他她它们您咱这那个些位件只条种样么之其与和跟同及或而且但也都还又就才很太真挺蛮好非常十分特别比较有点在于从到对向给把被让使以为因所如果若虽不没无别是有要会能可想说看来去上下里外中前后左右边面段再先请一二三四五六七八九十两几第另某每各";

/// Chinese words of manners, longest first within a length.
const HAN_SMALL: &[&str] = &[
    "正是我想要的",
    "最近怎么样",
    "不好意思",
    "原来如此",
    "打扰一下",
    "新年快乐",
    "生日快乐",
    "节日快乐",
    "周末愉快",
    "好久不见",
    "没有关系",
    "辛苦你了",
    "麻烦你了",
    "太感谢了",
    "非常感谢",
    "万分感谢",
    "十分感谢",
    "没问题",
    "没关系",
    "对不起",
    "不客气",
    "明天见",
    "回头见",
    "早上好",
    "上午好",
    "中午好",
    "下午好",
    "晚上好",
    "太好了",
    "太棒了",
    "知道了",
    "明白了",
    "了解了",
    "收到了",
    "懂了",
    "谢谢你",
    "谢谢您",
    "好的呀",
    "我知道",
    "我明白",
    "这样啊",
    "那就好",
    "你好",
    "您好",
    "大家好",
    "哈喽",
    "哈啰",
    "嗨",
    "喂",
    "在吗",
    "在么",
    "在不在",
    "早安",
    "晚安",
    "早啊",
    "再见",
    "拜拜",
    "拜",
    "谢谢",
    "多谢",
    "感谢",
    "谢了",
    "谢啦",
    "辛苦",
    "抱歉",
    "打扰",
    "没事",
    "好的",
    "好滴",
    "好嘞",
    "好哒",
    "好呀",
    "好吧",
    "好啊",
    "行吧",
    "行的",
    "可以",
    "明白",
    "了解",
    "知道",
    "收到",
    "清楚",
    "懂",
    "确实",
    "当然",
    "真的",
    "厉害",
    "真棒",
    "点赞",
    "不错",
    "完美",
    "优秀",
    "给力",
    "加油",
    "哇塞",
    "天哪",
    "天啊",
    "哈哈",
    "呵呵",
    "嘿嘿",
    "嘻嘻",
    "嘿",
    "嗯嗯",
    "哦哦",
    "哇",
    "赞",
    "棒",
    "牛",
    "对的",
    "是的",
    "没错",
    "同意",
    "有道理",
    "客气",
    "早",
    "行",
    "嗯",
    "哦",
    "噢",
    "喔",
    "哈",
    "呵",
    "嘻",
    "对",
    "好",
    "是",
    "随便",
    "都行",
    "都可以",
    "无所谓",
    "算了",
    "帮大忙",
    "大忙",
    "帮助",
];

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

struct Lists {
    function: HashSet<&'static str>,
    small: HashSet<&'static str>,
    tasks: HashSet<&'static str>,
    objects: HashSet<&'static str>,
    finite: HashSet<&'static str>,
    han: HashSet<char>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    function: set(FUNCTION),
    small: set(SMALL),
    tasks: set(TASKS),
    objects: set(ORDER_OBJECTS),
    finite: set(FINITE),
    han: HAN_FUNCTION.chars().collect(),
});

/// What a sentence is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// Words and numbers, Han characters apart.
    pub words: usize,
    /// Of these, words that say something.
    pub telling: usize,
    /// Of these, words with a digit or code's marks: numbers, versions, paths, names of things.
    pub precise: usize,
    /// Whether a verb makes a statement of it.
    pub finite: bool,
    /// Han characters.
    pub han: usize,
    /// Han characters that say something.
    pub han_telling: usize,
}

/// Whether a character is Han.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}' | '〇')
}

/// The words of a plain sentence, Han characters apart.
pub(super) fn words(plain: &str) -> impl Iterator<Item = &str> {
    plain
        .split(|c: char| {
            c.is_whitespace()
                || is_han(c)
                || matches!(c, ',' | ';' | '!' | '?' | '(' | ')' | '，' | '。' | '、' | '：' | '；' | '“' | '”')
        })
        .map(|w| w.trim_matches(|c: char| matches!(c, '.' | ':' | '\'' | '"' | '[' | ']' | '-')))
        .filter(|w| !w.is_empty())
}

/// What a plain sentence is made of.
pub(super) fn content(plain: &str) -> Content {
    let lists = &*LISTS;
    let mut content = Content::default();
    let mut person = false;
    for word in words(plain) {
        content.words += 1;
        let said = lists.finite.contains(word) || (word.len() > 4 && word.ends_with("ed") && content.words > 1);
        let precise = is_precise(word);
        content.precise += usize::from(precise);
        let telling = precise
            || (word.len() > 1
                && word.chars().any(char::is_alphanumeric)
                && !lists.function.contains(word)
                && !lists.small.contains(word));
        content.telling += usize::from(telling);
        // After a person comes a verb: "I listen to lo-fi".
        content.finite |= said || (person && telling);
        person = matches!(word, "i" | "we" | "he" | "she" | "they");
    }
    for c in plain.chars().filter(|c| is_han(*c)) {
        content.han += 1;
        content.han_telling += usize::from(!lists.han.contains(&c));
    }
    content
}

/// Characters of a word by which it is compared: its endings go.
const STEM_CHARS: usize = 6;

/// The words of a text that say something, by their beginnings; pairs of Han characters.
pub(in crate::memory) fn telling_words(text: &str) -> HashSet<String> {
    let lists = &*LISTS;
    let plain = super::plain::plain(text);
    let telling = |w: &&str| w.len() > 1 && !lists.function.contains(*w) && !lists.small.contains(*w);
    let mut found: HashSet<String> = words(&plain).filter(telling).map(|w| w.chars().take(STEM_CHARS).collect()).collect();
    let han: Vec<char> = plain.chars().collect();
    found.extend(
        han.windows(2).filter(|pair| pair.iter().all(|c| is_han(*c) && !lists.han.contains(c))).map(|pair| pair.iter().collect()),
    );
    found
}

/// A word with a digit or the marks of code in it.
fn is_precise(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
        || (word.bytes().skip(1).any(|b| matches!(b, b'_' | b'/' | b'=' | b'@' | b'\\' | b'.'))
            && word.bytes().any(|b| b.is_ascii_alphabetic()))
        || (word.len() > 2 && word.starts_with(['/', '$', '~', '#', '@']))
}

/// Whether it is made of manners alone.
pub(super) fn is_small_talk(plain: &str) -> bool {
    let lists = &*LISTS;
    let (mut any, mut number) = (false, 0usize);
    for word in words(plain) {
        number += 1;
        let word = word.trim_end_matches('\'');
        if lists.small.contains(word) || is_drawn_out(word) {
            any = true;
        } else if !lists.function.contains(word) {
            return false;
        }
    }
    let rest = han_rest(plain);
    let han = plain.chars().any(is_han);
    (number == 0 || any || (han && rest == 0))
        && number <= 16
        && if han { rest <= 1 && (any || rest == 0 || han_small(plain)) } else { any }
}

fn han_small(plain: &str) -> bool {
    HAN_SMALL.iter().any(|small| plain.contains(small))
}

/// Han characters left when manners and characters that stand for nothing are taken away.
fn han_rest(plain: &str) -> usize {
    let mut rest = plain;
    let mut left = 0;
    'next: while let Some(c) = rest.chars().next() {
        for small in HAN_SMALL {
            if let Some(more) = rest.strip_prefix(small) {
                rest = more;
                continue 'next;
            }
        }
        left += usize::from(is_han(c) && !LISTS.han.contains(&c));
        rest = &rest[c.len_utf8()..];
    }
    left
}

/// `yesss`, `hahaha`, `hmmmm`, `sooo`: a word drawn out, or laughter.
fn is_drawn_out(word: &str) -> bool {
    let bytes = word.as_bytes();
    let laughs = bytes.len() >= 4 && bytes.iter().all(|b| matches!(b, b'h' | b'a' | b'e' | b'x' | b'l' | b'o')) && {
        let mut kinds = bytes.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len() <= 2
    };
    laughs || (bytes.len() >= 4 && bytes.windows(3).any(|w| w[0] == w[1] && w[1] == w[2] && w[0].is_ascii_alphabetic()))
}

/// Whether a plain sentence or clause begins with a verb that orders work.
pub(super) fn orders(plain: &str) -> bool {
    let lists = &*LISTS;
    let mut words = plain.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let Some(first) = words.by_ref().find(|w| {
        !matches!(
            *w,
            "please"
                | "now"
                | "then"
                | "and"
                | "also"
                | "just"
                | "ok"
                | "okay"
                | "so"
                | "hey"
                | "hi"
                | "alright"
                | "next"
                | "first"
                | "kindly"
                | "quickly"
                | "again"
                | "yes"
                | "no"
                | "well"
        )
    }) else {
        return false;
    };
    if !lists.tasks.contains(first.trim_end_matches([':', '.', '!'])) || first.ends_with(':') {
        return false;
    }
    match words.next() {
        None => true,
        Some(second) if lists.objects.contains(second) => true,
        // "Check engine light is on", "Build fails on Windows": a noun, as a verb follows it.
        Some(second) => !std::iter::once(second)
            .chain(words)
            .take(ORDER_WORDS_MAX)
            .take_while(|w| !matches!(*w, "that" | "which" | "who" | "if" | "so" | "because" | "until" | "when" | "to"))
            .any(|w| {
                lists.finite.contains(w)
                    && !matches!(
                        w,
                        "use" | "work" | "like" | "run" | "read" | "play" | "need" | "logs" | "notes" | "will" | "times"
                    )
            }),
    }
}

/// Words behind an order that are looked through for a verb that makes it a statement.
const ORDER_WORDS_MAX: usize = 9;

/// Programs of a shell that nobody writes about by beginning with their name.
const SHELL: &[&str] = &[
    "git",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "pip",
    "pip3",
    "docker",
    "docker-compose",
    "kubectl",
    "cargo",
    "sudo",
    "cd",
    "ls",
    "curl",
    "wget",
    "brew",
    "apt",
    "apt-get",
    "systemctl",
    "terraform",
    "helm",
    "echo",
    "rm",
    "mkdir",
    "grep",
    "chmod",
    "chown",
    "ssh",
    "scp",
    "rsync",
    "tar",
    "sed",
    "awk",
    "psql",
    "mysql",
];

/// Whether a plain sentence is a line for a shell: a program, and its arguments.
pub(super) fn is_shell(plain: &str, made: &Content) -> bool {
    let mut words = plain.split_whitespace();
    if !words.next().is_some_and(|first| SHELL.contains(&first)) || made.han > 0 || plain.contains(": ") {
        return false;
    }
    let mut rest = words.peekable();
    // "ssh through the bastion", "docker on the build machine": talked about, not typed.
    let about = rest.peek().is_none_or(|w| {
        matches!(*w, "through" | "into" | "to" | "via" | "with" | "on" | "from" | "in" | "for" | "and" | "or" | "hub" | "desktop")
    });
    !about
        && !rest.any(|w| {
            (LISTS.finite.contains(w) || w.ends_with("ed")) && !matches!(w, "run" | "start" | "use" | "sync" | "logs" | "will")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manners_are_told_from_content() {
        for text in ["thanks a lot, that was so helpful", "ok cool", "yesss", "好的好的", "嗯嗯，明白了", "谢谢啦"] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in ["the boat is red", "端口是 8082", "ann likes tea", "我对海鲜过敏", "a note"] {
            assert!(!is_small_talk(text), "{text}");
        }
    }

    #[test]
    fn orders_begin_with_a_verb() {
        for text in ["run echo hello", "please check the logs", "fix it", "list all files", "check if the server is up"] {
            assert!(orders(text), "{text}");
        }
        for text in [
            "use the bot account",
            "deploys happen on tuesdays",
            "check engine light is on",
            "test data lives in s3",
            "order: 12",
        ] {
            assert!(!orders(text), "{text}");
        }
    }

    #[test]
    fn content_counts_what_tells() {
        let c = content("the staging port is 5433");
        assert_eq!((c.telling, c.precise, c.finite), (3, 1, true));
        let c = content("左边那个");
        assert_eq!((c.han, c.han_telling), (4, 0));
    }
}
