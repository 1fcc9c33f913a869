//! Events against a training that counts everything anew.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::*;
use crate::random::Draw;
use crate::random::tests::{begin, below};

fn options(symbols: &str, vocab_size: usize, threshold: f64) -> Options {
    let symbols: Vec<Vec<u8>> = symbols
        .chars()
        .map(|each| each.to_string().into_bytes())
        .collect();
    Options {
        symbols: (1..=symbols.len() as u32).collect(),
        initial: [vec![Vec::new()], symbols].concat(),
        vocab_size,
        min_frequency: 1,
        rule: Rule::Share(threshold),
        reserved: HashSet::new(),
    }
}

fn train(words: &[(String, u64)], options: &Options) -> Result<Training> {
    Trainer::new(as_bytes(words), options)?.run(&mut |_| Ok(()))
}

fn as_bytes(words: &[(String, u64)]) -> impl Iterator<Item = (&[u8], u64)> {
    words.iter().map(|(word, count)| (word.as_bytes(), *count))
}

fn counted(words: &[(&str, u64)]) -> Vec<(String, u64)> {
    words
        .iter()
        .map(|&(word, count)| (word.to_owned(), count))
        .collect()
}

/// "a+b" for a merge, "-ab" for what is taken back.
fn shown(training: &Training) -> Vec<String> {
    let text = |id: u32| std::str::from_utf8(&training.tokens[id as usize]).unwrap();
    let show = |&[left, right, product]: &[u32; 3]| match right {
        SPLIT => format!("-{}", text(left)),
        _ => {
            assert_eq!([text(left), text(right)].concat(), text(product));
            format!("{}+{}", text(left), text(right))
        }
    };
    training.events.iter().map(show).collect()
}

/// What is merged and taken back, and how often each token stands there in the end; `None` stands for other characters.
struct Plain {
    words: Vec<(Vec<Option<String>>, u64)>,
    ids: Vec<String>,
    first: BTreeMap<String, [String; 2]>,
    present: Vec<String>,
    events: Vec<String>,
    splits: u32,
    most_merges: usize,
}

impl Plain {
    fn new(words: &[(String, u64)], alphabet: &str) -> Self {
        let symbol = |each: char| alphabet.contains(each).then(|| each.to_string());
        let spelt = |(word, count): &(String, u64)| (word.chars().map(symbol).collect(), *count);
        Self {
            words: words.iter().map(spelt).collect(),
            ids: alphabet.chars().map(|each| each.to_string()).collect(),
            first: BTreeMap::new(),
            present: alphabet.chars().map(|each| each.to_string()).collect(),
            events: Vec::new(),
            splits: 0,
            most_merges: usize::MAX,
        }
    }

    fn id(&self, token: &str) -> usize {
        self.ids.iter().position(|known| known == token).unwrap()
    }

    fn uses(&self, token: &str) -> u64 {
        let of_word = |(word, count): &(Vec<Option<String>>, u64)| {
            count * word.iter().flatten().filter(|each| *each == token).count() as u64
        };
        self.words.iter().map(of_word).sum()
    }

    fn best(&self) -> Option<([String; 2], u64)> {
        let mut counts = BTreeMap::new();
        for (word, count) in &self.words {
            for pair in word.windows(2) {
                if let [Some(left), Some(right)] = pair {
                    let ids = (self.id(left), self.id(right));
                    *counts.entry(ids).or_insert(0) += count;
                }
            }
        }
        let pair = |ids: &(usize, usize)| [self.ids[ids.0].clone(), self.ids[ids.1].clone()];
        counts.retain(|ids, _| {
            let event = pair(ids).join("+");
            let times = self.events.iter().filter(|known| **known == event);
            times.count() < self.most_merges
        });
        let best = counts
            .iter()
            .min_by_key(|&(ids, count)| (Reverse(*count), *ids));
        best.map(|(ids, &count)| (pair(ids), count))
    }

    fn rewrite(&mut self, pattern: &[String], parts: &[String]) -> u64 {
        let mut times = 0;
        for (word, count) in &mut self.words {
            let mut at = 0;
            while at + pattern.len() <= word.len() {
                if word[at..at + pattern.len()].iter().flatten().eq(pattern) {
                    word.splice(at..at + pattern.len(), parts.iter().cloned().map(Some));
                    times += *count;
                    at += parts.len();
                } else {
                    at += 1;
                }
            }
        }
        times
    }

    fn parts(&self, token: &str) -> Vec<String> {
        if self.present.iter().any(|each| each == token) {
            return vec![token.to_owned()];
        }
        let parts = self.first[token].iter();
        parts.flat_map(|part| self.parts(part)).collect()
    }

    fn merge(&mut self, pair: &[String; 2]) -> u64 {
        let product = pair.concat();
        self.events.push(pair.join("+"));
        if !self.ids.contains(&product) {
            self.ids.push(product.clone());
            self.first.insert(product.clone(), pair.clone());
        }
        if !self.present.contains(&product) {
            self.present.push(product.clone());
        }
        self.rewrite(pair, &[product])
    }

    /// The scaffold that stands most often, and how often.
    fn most_used(&self) -> (u64, String) {
        let scaffolds = self.ids.iter().filter(|id| !self.present.contains(id));
        let used = scaffolds.map(|token| (self.uses(token), token.clone()));
        used.rev().max_by_key(|&(uses, _)| uses).unwrap_or_default()
    }

    fn build(&mut self, vocab_size: usize) {
        while self.present.len() < vocab_size {
            let next = self.best();
            let (uses, scaffold) = self.most_used();
            if uses > 0 && uses >= next.as_ref().map_or(0, |&(_, count)| count) {
                self.present.push(scaffold);
                continue;
            }
            let Some((pair, _)) = next else {
                break;
            };
            self.merge(&pair);
            let next = self.best().map_or(0, |(_, count)| count);
            let next = next.max(self.most_used().0);
            for part in &pair {
                if part.len() > 1 && self.uses(part) < next && self.present.contains(part) {
                    self.present.retain(|each| each != part);
                    self.splits += 1;
                }
            }
        }
        let scaffolds = self.ids.iter().filter(|id| !self.present.contains(id));
        let mut scaffolds: Vec<String> = scaffolds.cloned().collect();
        scaffolds.sort_by_key(|token| Reverse(token.len()));
        for token in scaffolds {
            self.events.push(format!("-{token}"));
            let parts = self.parts(&token);
            self.rewrite(&[token], &parts);
        }
    }

    fn run(&mut self, vocab_size: usize, threshold: f64) {
        while self.present.len() < vocab_size {
            let Some((pair, _)) = self.best() else {
                return;
            };
            let before = pair.clone().map(|part| self.uses(&part));
            let times = self.merge(&pair);
            let mut freed = 0;
            for (side, part) in pair
                .iter()
                .enumerate()
                .take(1 + usize::from(pair[0] != pair[1]))
            {
                let taken = if pair[0] == pair[1] { 2 * times } else { times };
                let left = before[side] - taken + freed;
                if part.len() > 1 && times as f64 / (left + times) as f64 > threshold {
                    self.present.retain(|each| each != part);
                    self.events.push(format!("-{part}"));
                    self.splits += 1;
                    let parts = self.parts(part);
                    let split = self.rewrite(std::slice::from_ref(part), &parts);
                    assert_eq!(split, left);
                    freed = split * parts.iter().filter(|each| **each == pair[1]).count() as u64;
                }
            }
        }
    }
}

fn drawn(draw: &mut Draw, letters: usize) -> Vec<(String, u64)> {
    let word = |draw: &mut Draw| {
        let length = 1 + below(draw, 9);
        let letters = letters + usize::from(length == 5); // one that is no symbol
        let letter = |_| (b'a' + below(draw, letters) as u8) as char;
        (0..length).map(letter).collect::<String>()
    };
    let count = 1 + below(draw, 20);
    (0..count)
        .map(|_| (word(draw), 1 + below(draw, 4) as u64))
        .collect()
}

fn check_uses(training: &Training, plain: &Plain) {
    assert_eq!(training.present, 1 + plain.present.len());
    for (token, &uses) in training.tokens.iter().zip(&training.uses).skip(1) {
        assert_eq!(uses, plain.uses(std::str::from_utf8(token).unwrap()));
    }
}

#[test]
fn scaffolds_are_those_of_counting_anew() {
    let mut draw = begin(21);
    let (mut splits, mut left) = (0, 0);
    for _ in 0..400 {
        let letters = &"abcd"[..2 + below(&mut draw, 3)];
        let words = drawn(&mut draw, letters.len());
        let vocab_size = 5 + below(&mut draw, 30);
        let mut plain = Plain::new(&words, letters);
        plain.build(vocab_size);
        let mut settings = options(letters, vocab_size + 1, 1.0);
        settings.rule = Rule::Scaffold;
        let training = train(&words, &settings).unwrap();
        assert_eq!(shown(&training), plain.events, "{words:?} {vocab_size}");
        check_uses(&training, &plain);
        splits += plain.splits;
        left += training.tokens.len() - training.present;
    }
    assert!(left > 100 && splits as usize > left, "{splits} {left}");
}

#[test]
fn events_are_those_of_counting_anew() {
    let mut draw = begin(20);
    let (mut splits, mut again, mut other_ways) = (0, 0, 0);
    for _ in 0..400 {
        let letters = &"abcd"[..2 + below(&mut draw, 3)];
        let words = drawn(&mut draw, letters.len());
        let threshold = [0.3, 0.5, 0.7, 0.9, 1.0][below(&mut draw, 5)];
        let vocab_size = 5 + below(&mut draw, 30);
        let mut plain = Plain::new(&words, letters);
        let most_merges = [1, 2, 64][below(&mut draw, 3)];
        plain.most_merges = most_merges;
        plain.run(vocab_size, threshold);
        let settings = options(letters, vocab_size + 1, threshold);
        let mut trainer = Trainer::new(as_bytes(&words), &settings).unwrap();
        trainer.most_merges = most_merges as u32;
        let training = trainer.run(&mut |_| Ok(())).unwrap();
        assert_eq!(
            shown(&training),
            plain.events,
            "{words:?} {vocab_size} {threshold}"
        );
        check_uses(&training, &plain);
        splits += plain.splits;
        let (mut merged, mut made) = (HashSet::new(), HashSet::new());
        for merge in plain.events.iter().filter(|event| !event.starts_with('-')) {
            let (is_new, is_other) = (merged.insert(merge), !made.insert(merge.replace('+', "")));
            again += u32::from(!is_new);
            other_ways += u32::from(is_new && is_other);
        }
    }
    assert!(
        splits > 100 && again > 10 && other_ways > 10,
        "{splits} {again} {other_ways}"
    );
}

#[test]
fn a_token_that_is_hardly_used_is_taken_back() {
    let words = counted(&[("_hug", 8), ("_hugs", 2), ("_pug", 3)]);
    let training = train(&words, &options("_hugsp", 10, 0.8)).unwrap();
    assert_eq!(shown(&training), ["u+g", "_+h", "_h+ug", "-_h", "_+p"]);
    let text = |id: usize| String::from_utf8(training.tokens[id].clone()).unwrap();
    assert_eq!((training.present, training.tokens.len()), (10, 11));
    assert_eq!([7, 8, 9, 10].map(text), ["ug", "_hug", "_p", "_h"]);
    assert_eq!(training.uses, [0, 0, 0, 0, 0, 2, 0, 3, 10, 3]);
}

#[test]
fn other_characters_divide_words_and_rare_pairs_stay() {
    let words = counted(&[("axb", 9), ("ab", 2), ("cc", 1)]);
    let mut settings = options("abc", 9, 0.9);
    settings.min_frequency = 2;
    let training = train(&words, &settings).unwrap();
    assert_eq!(shown(&training), ["a+b"]);
    assert!(training.exhausted);
    settings.reserved = [b"ab".to_vec()].into();
    assert!(train(&words, &settings).unwrap().events.is_empty());
}

#[test]
fn refuses_what_contradicts_itself() {
    let sentence = |words: &[(String, u64)], settings: &Options| {
        train(words, settings).unwrap_err().to_string()
    };
    for threshold in [0.0, f64::NAN] {
        assert!(sentence(&[], &options("a", 9, threshold)).contains("above 0"));
    }
    assert!(sentence(&[], &options("aa", 9, 0.9)).contains("twice"));
    let mut settings = options("a", 9, 0.9);
    assert!(sentence(&counted(&[("aaa", u64::MAX / 2)]), &settings).contains("2^64"));
    settings.symbols = vec![0];
    assert!(sentence(&[], &settings).contains("no symbol"));
}
