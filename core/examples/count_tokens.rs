//! Counts the tokens of the standard input by the ranks of o200k.
//!
//! cargo run --release --features embedded --example count_tokens < FILE

use std::error::Error;
use std::io::Read as _;

use bpe_core::{Contractions, Scanner, ScannerSpec, Tail, Tokenizer, WordRule};

/// The sum by which OpenAI's o200k_base.tiktoken is known.
const O200K: &str = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d";

fn main() -> Result<(), Box<dyn Error>> {
    let scanner = Scanner::new(Some(&ScannerSpec {
        words: WordRule::Cased,
        contractions: Contractions::Suffix,
        digits: 3,
        tail: Tail::NewlinesAndSlashes,
        newlines: true,
        final_space: false,
    }))?;
    let tokenizer = Tokenizer::embedded(O200K, scanner)?;
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    println!("{}", tokenizer.count(&text)?);
    Ok(())
}
