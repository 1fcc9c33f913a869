//! The methods of a tokenizer that take one text, as calls from Python into the core.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, intern};

use self::Given::Not;
use super::encoder::Encoder;
use super::split::SpecialMatcher;

/// A tokenizer, as far as one text goes with which nothing special is to be done. A subclass has `_encode` and `_count`,
/// which do all: what they find the core knows from then on (`_know`), and is asked first. Errors about arguments name
/// the class as Python knows it.
#[pyclass(name = "Tokenizer", subclass, frozen, module = "bpe_cli._core")]
pub struct OneText {
    known: PyOnceLock<Known>,
}

/// Who encodes a text at once.
struct Known {
    encoder: Py<Encoder>,
    matcher: Option<Py<SpecialMatcher>>,
}

#[pymethods]
impl OneText {
    #[new]
    #[pyo3(signature = (*_given, **_named))]
    fn new(_given: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            known: PyOnceLock::new(),
        }
    }

    /// Return the ids of a text. Special tokens in it are plain text unless ``specials`` names them.
    ///
    /// Args:
    ///     text: The text.
    ///     add_special_tokens: Whether to add the special tokens that the tokenizer's post-processor puts around a
    ///         text.
    ///     specials: The special tokens to recognize in it: ``"all"``, or a collection of their texts; none unless
    ///         asked.
    ///     bos: The token to put before it: the text of a special token, an id, or ``auto`` for the tokenizer's own.
    ///     eot: The token to put after it, given in the same way.
    ///     max_tokens: The most ids to return, including those around the text. The rest is cut off, even within a
    ///         character; ``truncate`` never does that.
    ///     side: The side of the text to cut off.
    ///     sampling: How to vary the encoding at random; None for no variation.
    ///     threads: Number of threads. Never changes the result.
    ///
    /// >>> import bpe_cli
    /// >>> tokenizer = bpe_cli.load("gpt2")
    /// >>> tokenizer.encode("hello world"), tokenizer.encode("hello world", max_tokens=1)
    /// ([31373, 995], [31373])
    /// >>> tokenizer.encode("hello<|endoftext|>", specials="all")
    /// [31373, 50256]
    ///
    /// Raises:
    ///     UsageError: if a name in ``specials`` is unknown, the tokenizer has no token to put around the text, or
    ///         ``max_tokens`` has no room for it.
    ///     InputError: if a byte of the text has no token.
    ///     TypeError: if an argument has the wrong type.
    #[pyo3(
        signature = (text, *, add_special_tokens=Not, specials=Not, bos=Not, eot=Not, max_tokens=Not, side=Not,
                     sampling=Not, threads=Not),
        text_signature = "($self, text, *, add_special_tokens=False, specials=(), bos=None, eot=None, max_tokens=None, \
                          side='right', sampling=None, threads=1)"
    )]
    #[expect(
        clippy::too_many_arguments,
        reason = "each is an option of the method; for **options, Python makes a tuple of the arguments at every call"
    )]
    fn encode<'py>(
        this: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        add_special_tokens: Given<'py>,
        specials: Given<'py>,
        bos: Given<'py>,
        eot: Given<'py>,
        max_tokens: Given<'py>,
        side: Given<'py>,
        sampling: Given<'py>,
        threads: Given<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        let options = [
            ("add_special_tokens", add_special_tokens),
            ("specials", specials),
            ("bos", bos),
            ("eot", eot),
            ("max_tokens", max_tokens),
            ("side", side),
            ("sampling", sampling),
            ("threads", threads),
        ];
        let at_length = intern!(py, "_encode");
        Self::at_once_or(at_length, this, text, &options, |py, encoder, matcher| {
            encoder
                .encode_text(py, text.extract()?, matcher, 1)?
                .into_bound_py_any(py)
        })
    }

    /// Return the number of ids of a text, without making them.
    ///
    /// >>> import bpe_cli
    /// >>> bpe_cli.load("gpt2").count("hello world")
    /// 2
    ///
    /// Raises:
    ///     BpeError: as ``encode`` does.
    ///     TypeError: if an argument has the wrong type.
    #[pyo3(
        signature = (text, *, add_special_tokens=Not, specials=Not),
        text_signature = "($self, text, *, add_special_tokens=False, specials=())"
    )]
    fn count<'py>(
        this: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        add_special_tokens: Given<'py>,
        specials: Given<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        let options = [
            ("add_special_tokens", add_special_tokens),
            ("specials", specials),
        ];
        let at_length = intern!(py, "_count");
        Self::at_once_or(at_length, this, text, &options, |py, encoder, matcher| {
            encoder
                .count_text(py, text.extract()?, matcher)?
                .into_bound_py_any(py)
        })
    }

    #[pyo3(signature = (encoder, matcher))]
    fn _know(&self, py: Python<'_>, encoder: Py<Encoder>, matcher: Option<Py<SpecialMatcher>>) {
        self.known.get_or_init(py, || Known { encoder, matcher });
    }
}

impl OneText {
    /// Does what is asked for without options, if that can be done at once. What fails goes the long way, by the method
    /// of that name: it says why, or finds a way.
    fn at_once_or<'py>(
        at_length: &Bound<'py, PyString>,
        this: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        options: &[(&str, Given<'py>)],
        at_once: impl FnOnce(
            Python<'py>,
            &Encoder,
            Option<&SpecialMatcher>,
        ) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let given = Given::among(py, options)?;
        if given.is_none()
            && let Some(known) = this.get().known.get(py)
        {
            let done = at_once(py, known.encoder.get(), known.matcher.as_ref().map(Py::get));
            let is_refused = |error: &PyErr| {
                error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py)
            };
            if !done.as_ref().is_err_and(is_refused) {
                return done;
            }
        }
        this.call_method(at_length, (text,), given.as_ref())
    }
}

/// An option of a call, which may have been left out.
enum Given<'py> {
    Not,
    As(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::As(object.to_owned()))
    }
}

impl<'py> Given<'py> {
    /// The options that were given, by name; nothing if none was.
    fn among(py: Python<'py>, options: &[(&str, Self)]) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut among = None;
        for (name, given) in options {
            if let Self::As(value) = given {
                among
                    .get_or_insert_with(|| PyDict::new(py))
                    .set_item(name, value)?;
            }
        }
        Ok(among)
    }
}
