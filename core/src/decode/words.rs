//! Decoders that put words together, and what they share: replacing.

use aho_corasick::{AhoCorasick, MatchKind};

use super::texts::{Kind, TokenTexts};
use crate::error::{Result, invalid};
use crate::normalize::Pattern;
use crate::text::character_len;
use crate::text::finder::finder;
use crate::text::pattern::{Expression, Rules};
use crate::text::subject::Subject;

/// Puts a space before each string but the first that does not begin with `prefix`, and takes the
/// prefix off the others.
pub fn join_word_pieces(texts: &TokenTexts, prefix: &[u8], cleanup: bool, out: &mut TokenTexts) {
    let mut draft = Draft::default();
    for (number, (piece, kind)) in texts.iter().enumerate() {
        let (space, rest): (&[u8], &[u8]) = match piece.strip_prefix(prefix) {
            _ if number == 0 => (b"", piece),
            Some(rest) => (b"", rest),
            None => (b" ", piece),
        };
        if cleanup {
            draft.begin(&[space, rest]);
            draft.clean_up();
            out.extend(&draft.text);
        } else {
            out.extend(space);
            out.extend(rest);
        }
        out.close(kind);
    }
}

/// Reads a suffix as a space, and leaves it out in the last string.
pub fn read_suffix(texts: &TokenTexts, suffix: &[u8], out: &mut TokenTexts) {
    let last = texts.len().saturating_sub(1);
    for (number, (piece, kind)) in texts.iter().enumerate() {
        replace(piece, suffix, if number == last { b"" } else { b" " }, out);
        out.close(kind);
    }
}

/// Reads the output of connectionist temporal classification: of equal neighbours one is left, then
/// what says "the same" is taken out.
pub fn read_ctc(
    texts: &TokenTexts,
    [pad_token, word_delimiter_token]: [&[u8]; 2],
    cleanup: bool,
    out: &mut TokenTexts,
) {
    let mut last = None;
    let mut draft = Draft::default();
    for (piece, _) in texts.iter() {
        if last.replace(piece) == Some(piece) {
            continue;
        }
        draft.begin(&[piece]);
        draft.replace(pad_token, b"");
        if cleanup {
            draft.clean_up();
            draft.replace(word_delimiter_token, b" ");
        }
        if !draft.text.is_empty() {
            out.push(&draft.text, Kind::Text);
        }
    }
}

/// A text that is rewritten in place, as seen from outside.
#[derive(Debug, Default)]
struct Draft {
    text: Vec<u8>,
    spare: TokenTexts,
}

impl Draft {
    fn begin(&mut self, parts: &[&[u8]]) {
        self.text.clear();
        parts
            .iter()
            .for_each(|part| self.text.extend_from_slice(part));
    }

    fn replace(&mut self, from: &[u8], with: &[u8]) {
        self.spare.clear();
        replace(&self.text, from, with, &mut self.spare);
        self.text.clear();
        self.text.extend_from_slice(self.spare.open());
    }

    /// Takes spaces out before punctuation and in English contractions.
    fn clean_up(&mut self) {
        const CHANGES: [(&[u8], &[u8]); 11] = [
            (b" .", b"."),
            (b" ?", b"?"),
            (b" !", b"!"),
            (b" ,", b","),
            (b" ' ", b"'"),
            (b" n't", b"n't"),
            (b" 'm", b"'m"),
            (b" do not", b" don't"),
            (b" 's", b"'s"),
            (b" 've", b"'ve"),
            (b" 're", b"'re"),
        ];
        // No change can make another one possible that was not before, but where this holds.
        let may_change = self
            .text
            .windows(2)
            .any(|pair| pair[0] == b' ' && b".?!,'nd".contains(&pair[1]));
        if may_change {
            for (from, with) in CHANGES {
                self.replace(from, with);
            }
        }
    }
}

/// Writes a text with every occurrence of `from`, from left to right, replaced. An empty `from`
/// occurs before each character and at the end.
pub fn replace(text: &[u8], from: &[u8], with: &[u8], out: &mut TokenTexts) {
    let Some(&first) = from.first() else {
        let mut at = 0;
        out.extend(with);
        while at < text.len() {
            let end = at + character_len(text, at);
            out.extend(&text[at..end]);
            out.extend(with);
            at = end;
        }
        return;
    };
    let (mut kept, mut at) = (0, 0);
    while let Some(offset) = text[at..].iter().position(|&byte| byte == first) {
        at += offset;
        if text[at..].starts_with(from) {
            out.extend(&text[kept..at]);
            out.extend(with);
            at += from.len();
            kept = at;
        } else {
            at += 1;
        }
    }
    out.extend(&text[kept..]);
}

/// A compiled `Replace`.
#[derive(Debug)]
pub struct Replacement {
    pattern: Searched,
    content: Vec<u8>,
}

#[derive(Debug)]
enum Searched {
    Literal(AhoCorasick),
    Expression(Box<Expression>),
}

impl Replacement {
    /// Compiles what to look for.
    ///
    /// # Errors
    /// Says why the expression cannot be.
    pub fn new(pattern: &Pattern, content: &str) -> Result<Self> {
        let pattern = match pattern {
            Pattern::String(literal) => {
                Searched::Literal(finder(&[literal], MatchKind::LeftmostFirst).map_err(
                    |error| invalid!("the decoder cannot look for {literal:?}: {error}"),
                )?)
            }
            Pattern::Regex(expression) => {
                Searched::Expression(Box::new(Expression::new(expression, Rules::DECODE)?))
            }
        };
        Ok(Self {
            pattern,
            content: content.into(),
        })
    }

    /// Writes a string with every match replaced; nothing matches in an empty one. Bytes that are no
    /// part of UTF-8 stay, and an expression sees the text before and after them apart.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub fn apply(&self, piece: &[u8], out: &mut TokenTexts) -> Result<()> {
        match &self.pattern {
            Searched::Literal(literal) => {
                let mut kept = 0;
                for found in literal.find_iter(piece) {
                    out.extend(&piece[kept..found.start()]);
                    out.extend(&self.content);
                    kept = found.end();
                }
                out.extend(&piece[kept..]);
            }
            Searched::Expression(expression) => {
                for chunk in piece.utf8_chunks() {
                    let text = chunk.valid().as_bytes();
                    let mut kept = 0;
                    if !text.is_empty() {
                        for found in expression.matches(&Subject::new(text), 0..text.len())? {
                            out.extend(&text[kept..found.start]);
                            out.extend(&self.content);
                            kept = found.end;
                        }
                    }
                    out.extend(&text[kept..]);
                    out.extend(chunk.invalid());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, from: &str, with: &str) -> String {
        let mut out = TokenTexts::default();
        replace(text.as_bytes(), from.as_bytes(), with.as_bytes(), &mut out);
        String::from_utf8(out.into_bytes()).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn replaces_as_the_standard_library_does(text in "[aé ]{0,12}", from in "[aé ]{0,3}", with in "[x]{0,2}") {
            assert_eq!(replaced(&text, &from, &with), text.replace(&from, &with));
        }
    }

    #[test]
    fn an_expression_that_would_go_backwards_is_refused() {
        let pattern = Pattern::Regex(r"a|(?<=\Ka)b".to_owned());
        let error = Replacement::new(&pattern, "").unwrap_err();
        assert!(
            error.to_string().contains("inside a look-around"),
            "{error}"
        );
    }

    #[test]
    fn replaces_by_expression_between_stray_bytes() {
        let pattern = Pattern::Regex("^a|x*".to_owned());
        let replacement = Replacement::new(&pattern, "-").unwrap();
        let mut out = TokenTexts::default();
        replacement.apply(b"ab\xffac", &mut out).unwrap();
        assert_eq!(out.into_bytes(), b"-b-\xff-c-");
    }
}
