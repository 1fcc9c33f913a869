//! May a text be cut here, and each part be handled by itself?
//!
//! Threads take parts of long documents, words are looked up before any stage has run, and models are given parts of
//! pieces. Each of these cuts is right only if nothing that comes later can see across it. This is the one place that
//! puts the answers together, and has the words for them:
//!
//! | who answers | in which words | the claim |
//! |---|---|---|
//! | a scanner | `Scanner::safe_cut` | an offset between two characters that decide by themselves |
//! | the same | `Scanner::cut_in_run` | an offset in a run of blanks, where its piece may be in two parts |
//! | a normalizer | [`stages::AtSpace`], [`stages::Rewriting`] | what it does at a space between two letters, and in general |
//! | a pre-tokenizer | [`stages::Cutting`] | the same, and at which blanks every piece ends |
//! | both | [`pairs::Between`], `Normalizer::between` | what they do between two bytes of ASCII; [`pairs::Places`] has all pairs |
//! | all stages together | [`stages::Answers`] | for which models a text can be cut there, and of what shape it is |
//! | a model | [`seams::Border`], [`seams::Joints`], `Model::fuses` | between which characters no token goes on |
//! | byte pairs | [`runs::Joins`] | whether a token holds two of a byte |
//! | special tokens | `SpecialMatcher::moves_cut` | no token, and no stretch of a codebook, goes on across |
//!
//! Who answers for a component stands beside it: a `match` that names every one there is, so that a new one has no
//! answer until somebody gives one. Whoever says yes owes the proof of the claim, in the comment beside the arm;
//! `tests/boundaries.rs` cuts random texts wherever a yes was said, and so does the fuzz target of the same name.

/// So many bytes at a text's end are looked through for a place between two characters.
pub(crate) const LOOK: usize = 1 << 12;

pub mod pairs;
pub mod runs;
pub mod seams;
pub mod stages;

/// The last offset up to `limit` where a text can be cut, if there is one.
///
/// `safe_cut` gives the last offset inside a text at which its stages allow a cut, whatever follows, or 0. `moves_cut`
/// says of an offset how far to go back if a special token forbids it.
///
/// If both tell the truth, then the text before the offset and the one behind it, each by itself, become what the
/// text becomes.
pub fn last_cut(
    text: &[u8],
    limit: usize,
    safe_cut: impl Fn(&[u8]) -> usize,
    moves_cut: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    let mut cut = safe_cut(&text[..limit]);
    while cut > 0
        && let Some(before) = moves_cut(text, cut)
    {
        cut = safe_cut(&text[..before]);
    }
    (cut > 0).then_some(cut)
}
