//! What the tasks of a block gave, put together again.

/// Ids of a block's documents.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The ids, one document after the other.
    pub ids: Vec<u32>,
    /// Where each document's ids end.
    pub ends: Vec<u64>,
}

/// What one task gave: ids (or only their number), and how many there were at each document's end.
#[derive(Debug, Default)]
pub struct Part {
    /// Ids, as far as they are kept.
    pub ids: Vec<u32>,
    counted: u64,
    /// How many ids there were at the end of each document.
    pub ends: Vec<u64>,
}

impl Part {
    /// How many ids there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted + self.ids.len() as u64
    }

    /// Adds ids that are only counted.
    #[inline]
    pub fn add(&mut self, ids: u64) {
        self.counted += ids;
    }

    /// Gives up the ids and keeps their number.
    pub fn forget(&mut self) {
        self.counted += self.ids.len() as u64;
        self.ids.clear();
    }
}

/// Joins parts whose ids were kept.
#[must_use]
pub fn join(mut parts: Vec<Part>) -> Encoded {
    if let [part] = &mut parts[..] {
        return Encoded {
            ids: std::mem::take(&mut part.ids),
            ends: std::mem::take(&mut part.ends),
        };
    }
    let mut encoded = Encoded {
        ids: Vec::with_capacity(parts.iter().map(|part| part.ids.len()).sum()),
        ends: Vec::with_capacity(parts.iter().map(|part| part.ends.len()).sum()),
    };
    for part in parts {
        let before = encoded.ids.len() as u64;
        encoded.ids.extend_from_slice(&part.ids);
        encoded
            .ends
            .extend(part.ends.iter().map(|end| before + end));
    }
    encoded
}

/// The number of ids of each document.
#[must_use]
pub fn counts(parts: &[Part]) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut open = 0; // tokens of a document whose end is in a later part
    for part in parts {
        let mut last = 0;
        for &end in &part.ends {
            counts.push(open + end - last);
            (open, last) = (0, end);
        }
        open += part.total() - last;
    }
    counts
}
