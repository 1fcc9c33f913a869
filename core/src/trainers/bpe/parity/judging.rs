//! Which language is compressed worst, and which has chosen too often.

use std::collections::VecDeque;

use super::language::Text;

/// Compares languages by their texts.
pub(super) struct Judge {
    /// By what the compression of each is divided; empty where their development sets say the same.
    ratios: Vec<f64>,
}

impl Judge {
    /// Takes the ratios; none if the texts say the same in all languages, so that the longest is the worst.
    pub fn new(ratios: &[f64]) -> Self {
        Self {
            ratios: ratios.to_vec(),
        }
    }

    /// How badly a text is compressed.
    fn badness(&self, language: usize, text: &Text) -> f64 {
        match self.ratios.get(language) {
            // In this order of operations, as the paper's code has it: the last bit may decide.
            Some(ratio) => -(text.symbols as f64 / text.length as f64 / ratio),
            None => text.length as f64,
        }
    }

    /// The language that is compressed worst, of several the first, among those that `may_choose`; None if none may.
    pub fn worst<'a>(
        &self,
        texts: impl Iterator<Item = &'a Text>,
        may_choose: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut worst: Option<(f64, usize)> = None;
        for (language, text) in texts.enumerate() {
            let badness = self.badness(language, text);
            if may_choose(language) && worst.is_none_or(|(most, _)| badness > most) {
                worst = Some((badness, language));
            }
        }
        worst.map(|(_, language)| language)
    }
}

/// Remembers who chose lately.
pub(super) struct Turns {
    size: usize,
    /// The largest share of the window, full or not, with which a language may choose once more.
    limit: f64,
    chosen: VecDeque<usize>,
    /// How often each language is in the window.
    times: Vec<usize>,
}

impl Turns {
    /// Remembers so many choices.
    pub fn new(size: usize, limit: f64, languages: usize) -> Self {
        Self {
            size,
            limit,
            chosen: VecDeque::new(),
            times: vec![0; languages],
        }
    }

    /// Whether a language may choose.
    pub fn allow(&self, language: usize) -> bool {
        self.times[language] as f64 / self.size as f64 <= self.limit
    }

    /// Takes in that a language chooses.
    pub fn take(&mut self, language: usize) {
        self.chosen.push_back(language);
        self.times[language] += 1;
        if self.chosen.len() > self.size
            && let Some(first) = self.chosen.pop_front()
        {
            self.times[first] -= 1;
        }
    }
}
