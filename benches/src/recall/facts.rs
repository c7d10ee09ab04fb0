//! Facts that change: 500 of them, English and Chinese, each changed one to four times, among notes about the same people. From a seed.
//!
//! Must not know: how they are kept or asked for.

use crate::corpus::Random;

/// Facts in all, half of them in each language.
pub const FACTS: usize = 500;
/// Notes about other things.
pub const NOISE: usize = 3_000;
/// The clock of whoever asks.
pub const ASKED_AT: &str = "2026-01-01T12:00:00Z";
/// First day on which something was said, days since 1970.
const FIRST_DAY: i64 = 19_723;
/// The first statement falls into so many days.
const FIRST_DAYS: usize = 100;
/// Days from one change to the next, at least, and how many more there may be.
const CHANGE_DAYS: (usize, usize) = (20, 130);
/// One change in so many is told in other words.
const OTHER_WORDS: usize = 3;

/// How an old value is known to be old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// The new one is told plainly, and compared.
    Remember,
    /// The new one is said to take the place of the old.
    Supersede,
    /// Nothing says so but the time.
    Unlinked,
}

/// What was said, and when (RFC 3339).
#[derive(Debug, Clone)]
pub struct Statement {
    /// The words.
    pub text: String,
    /// When.
    pub occurred_at: String,
}

/// A fact: what was said of it, oldest first, and the question for what holds now.
#[derive(Debug, Clone)]
pub struct Fact {
    /// `en` or `zh`; a space of that name.
    pub language: &'static str,
    /// How its old values are known to be old.
    pub link: Link,
    /// At least two.
    pub statements: Vec<Statement>,
    /// Its question.
    pub question: String,
}

struct Shape {
    words: [&'static str; 2],
    question: &'static str,
    values: Values,
}

enum Values {
    Number(usize, usize),
    Room,
    Of(&'static [&'static str]),
}

const CITIES_EN: [&str; 16] = [
    "Lisbon", "Oslo", "Bergen", "Turin", "Ghent", "Porto", "Leeds", "Cork", "Graz", "Basel", "Utrecht", "Malmo", "Riga", "Tartu",
    "Split", "Varna",
];
const CITIES_ZH: [&str; 16] = [
    "北京", "上海", "广州", "成都", "南京", "杭州", "武汉", "西安", "长沙", "厦门", "青岛", "大连", "昆明", "苏州", "天津",
    "重庆",
];
const CHIEFS_EN: [&str; 12] = [
    "Olga Petrov",
    "Samir Haddad",
    "June Carter",
    "Pavel Novak",
    "Rita Costa",
    "Hugo Weiss",
    "Lena Berg",
    "Omar Aziz",
    "Tara Quinn",
    "Ivo Marin",
    "Nina Roth",
    "Karl Lund",
];
const CHIEFS_ZH: [&str; 12] =
    ["陈国栋", "周晓梅", "吴建平", "郑海燕", "冯志强", "蒋丽华", "沈文涛", "韩雪松", "杨春生", "朱红兵", "秦玉兰", "许大伟"];
const NAMES_EN: [&str; 50] = [
    "Alice", "Bruno", "Carla", "Derek", "Elena", "Felix", "Greta", "Henry", "Ingrid", "Jonas", "Kira", "Lukas", "Marta", "Nils",
    "Olive", "Pedro", "Quentin", "Rosa", "Stefan", "Tessa", "Ursula", "Victor", "Wanda", "Xavier", "Yvonne", "Zoltan", "Agnes",
    "Boris", "Celine", "Dario", "Edith", "Fabio", "Gloria", "Hector", "Irene", "Jasper", "Klara", "Leon", "Mona", "Norbert",
    "Ophelia", "Piotr", "Renata", "Simon", "Thea", "Ulrich", "Vera", "Walter", "Yara", "Zelda",
];
const NAMES_ZH: [&str; 50] = [
    "王芳",
    "李娜",
    "张伟",
    "刘洋",
    "陈静",
    "杨光",
    "赵敏",
    "黄磊",
    "周涛",
    "吴琼",
    "徐亮",
    "孙丽",
    "马超",
    "朱琳",
    "胡军",
    "郭靖宇",
    "何洁",
    "高峰",
    "林青",
    "罗成",
    "郑爽爽",
    "梁栋",
    "谢婷",
    "宋佳",
    "唐宁",
    "许晴",
    "韩冰",
    "冯唐唐",
    "邓超超",
    "曹颖",
    "彭博",
    "曾黎",
    "肖战战",
    "田甜",
    "董洁",
    "袁泉",
    "潘越",
    "于洋",
    "蒋欣欣",
    "蔡明明",
    "余华华",
    "杜鹃",
    "叶青",
    "程璐",
    "苏醒",
    "魏晨",
    "吕燕",
    "丁宁",
    "任静",
    "沈梦",
];
const SHAPES_EN: [Shape; 5] = [
    Shape {
        words: ["{e}'s phone extension is {v}", "The phone extension of {e} is {v} now"],
        question: "What is {e}'s phone extension?",
        values: Values::Number(1_000, 9_999),
    },
    Shape {
        words: ["{e} works in room {v}", "{e}'s desk is in room {v} now"],
        question: "In which room does {e} work?",
        values: Values::Room,
    },
    Shape {
        words: ["{e} lives in {v}", "{e} has moved and lives in {v} now"],
        question: "Where does {e} live?",
        values: Values::Of(&CITIES_EN),
    },
    Shape {
        words: ["{e}'s manager is {v}", "{e} reports to {v} as manager now"],
        question: "Who is {e}'s manager?",
        values: Values::Of(&CHIEFS_EN),
    },
    Shape {
        words: ["The budget of {e}'s project is {v} euros", "{e}'s project has a budget of {v} euros now"],
        question: "What is the budget of {e}'s project?",
        values: Values::Number(2_000, 90_000),
    },
];
const SHAPES_ZH: [Shape; 5] = [
    Shape {
        words: ["{e}的分机号是{v}", "{e}的分机号现在改成{v}"],
        question: "{e}的分机号是多少？",
        values: Values::Number(1_000, 9_999),
    },
    Shape {
        words: ["{e}在{v}办公室上班", "{e}现在在{v}办公室上班"], question: "{e}在哪个办公室上班？", values: Values::Room
    },
    Shape {
        words: ["{e}住在{v}", "{e}搬家了，现在住在{v}"], question: "{e}住在哪里？", values: Values::Of(&CITIES_ZH)
    },
    Shape {
        words: ["{e}的经理是{v}", "{e}的经理现在换成了{v}"], question: "{e}的经理是谁？", values: Values::Of(&CHIEFS_ZH)
    },
    Shape {
        words: ["{e}的项目预算是{v}元", "{e}的项目现在的预算是{v}元"],
        question: "{e}的项目预算是多少？",
        values: Values::Number(2_000, 90_000),
    },
];
const NOISE_EN: [&str; 6] = [
    "{e} brought {v} to the meeting about the harbour",
    "{e} borrowed {v} from the workshop and gave it back on the same day",
    "{e} called twice about {v} and left no message",
    "In the project review {e} asked for more time because of {v}",
    "{e} wants to do without {v} for a month",
    "{e} spent the evening drawing {v} for the school fair",
];
const NOISE_ZH: [&str; 6] = [
    "{e}把{v}带到了会上",
    "{e}向车间借了{v}，当天就还了",
    "{e}为了{v}打过两次电话",
    "项目评审时{e}因为{v}要求延期",
    "{e}想一个月不用{v}",
    "{e}整个晚上都在给学校画{v}",
];
const NEAR_NOISE_EN: [&str; 2] = ["{e} found {v} in the room beside the stairs", "The manager thanked {e} for repairing {v}"];
const NEAR_NOISE_ZH: [&str; 2] = ["{e}在楼梯旁边的房间里找到了{v}", "经理感谢{e}修好了{v}"];
const THINGS_EN: [&str; 20] = [
    "a lantern",
    "two ladders",
    "the old camera",
    "a box of screws",
    "some oranges",
    "the blue tent",
    "a violin",
    "three maps",
    "the coffee grinder",
    "a bag of cement",
    "the spare wheel",
    "a globe",
    "the long rope",
    "a kite",
    "the microphone",
    "a teapot",
    "four chairs",
    "the garden hose",
    "a barometer",
    "the red carpet",
];
const THINGS_ZH: [&str; 20] = [
    "灯笼",
    "梯子",
    "旧相机",
    "一盒螺丝",
    "橘子",
    "蓝色帐篷",
    "小提琴",
    "三张地图",
    "咖啡机",
    "水泥",
    "备用轮胎",
    "地球仪",
    "长绳子",
    "风筝",
    "麦克风",
    "茶壶",
    "四把椅子",
    "水管",
    "气压计",
    "红地毯",
];

/// The facts of a seed.
pub fn facts(seed: u64) -> Vec<Fact> {
    let mut random = Random::new(seed);
    (0..FACTS).map(|number| fact(number, &mut random)).collect()
}

/// What the notes about other things have in common with the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// The people.
    People,
    /// One in four the word that a question asks by, too: they answer nothing, and hold all of its words.
    Words,
}

/// Notes about other things, each with its language.
pub fn noise(seed: u64, kind: Noise) -> Vec<(&'static str, Statement)> {
    let mut random = Random::new(seed ^ 0x7015E);
    let note = |number: usize| {
        let (language, names, shapes, near, things) = match number % 2 {
            0 => ("en", &NAMES_EN, &NOISE_EN, &NEAR_NOISE_EN, &THINGS_EN),
            _ => ("zh", &NAMES_ZH, &NOISE_ZH, &NEAR_NOISE_ZH, &THINGS_ZH),
        };
        let shape = match kind == Noise::Words && random.below(4) == 0 {
            true => near[random.below(near.len())],
            false => shapes[random.below(shapes.len())],
        };
        let text = shape.replace("{e}", names[random.below(names.len())]).replace("{v}", things[random.below(things.len())]);
        (language, Statement { text, occurred_at: at(FIRST_DAY + random.below(700) as i64) })
    };
    (0..NOISE).map(note).collect()
}

fn fact(number: usize, random: &mut Random) -> Fact {
    let (language, names, shapes) = match number % 2 {
        0 => ("en", &NAMES_EN, &SHAPES_EN),
        _ => ("zh", &NAMES_ZH, &SHAPES_ZH),
    };
    let (name, shape) = (names[number / 2 % names.len()], &shapes[number / 2 / names.len()]);
    let link = [Link::Unlinked, Link::Remember, Link::Unlinked, Link::Supersede][number / 2 % 4];
    let mut day = FIRST_DAY + random.below(FIRST_DAYS) as i64;
    let mut values: Vec<String> = Vec::new();
    for _ in 0..2 + random.below(4) {
        let value = loop {
            let value = shape.values.one(random);
            if !values.contains(&value) {
                break value;
            }
        };
        values.push(value);
    }
    let mut statements = Vec::new();
    for (n, value) in values.iter().enumerate() {
        let words = shape.words[usize::from(n > 0 && random.below(OTHER_WORDS) == 0)];
        statements.push(Statement { text: words.replace("{e}", name).replace("{v}", value), occurred_at: at(day) });
        day += (CHANGE_DAYS.0 + random.below(CHANGE_DAYS.1)) as i64;
    }
    Fact { language, link, statements, question: shape.question.replace("{e}", name) }
}

impl Values {
    fn one(&self, random: &mut Random) -> String {
        match self {
            Values::Number(from, to) => (from + random.below(to - from)).to_string(),
            Values::Room => format!("{}{}", ["A", "B", "C", "D"][random.below(4)], 100 + random.below(400)),
            Values::Of(list) => list[random.below(list.len())].to_owned(),
        }
    }
}

/// Noon of a day, RFC 3339.
fn at(day: i64) -> String {
    jiff::Timestamp::from_second(day * 86_400 + 43_200).map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    // MEM-4
    #[test]
    fn the_set_is_whole() {
        let facts = facts(1);
        let questions: BTreeSet<_> = facts.iter().map(|fact| &fact.question).collect();
        assert_eq!((facts.len(), questions.len()), (FACTS, FACTS));
        let of = |link| facts.iter().filter(|fact| fact.link == link).count();
        assert_eq!((of(Link::Unlinked), of(Link::Remember) + of(Link::Supersede)), (250, 250));
        assert!(facts.iter().all(|fact| (2..=5).contains(&fact.statements.len())));
        let now: jiff::Timestamp = ASKED_AT.parse().unwrap();
        for fact in &facts {
            let times: Vec<jiff::Timestamp> = fact.statements.iter().map(|s| s.occurred_at.parse().unwrap()).collect();
            assert!(times.is_sorted() && times.iter().all(|at| *at < now));
        }
        assert_eq!(noise(1, Noise::Words).len(), NOISE);
    }
}
