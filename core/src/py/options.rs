//! Options, which cross as one JSON object.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// Options that were read and checked; an option that is unknown, missing or of another kind is refused by name.
pub struct Options<T>(pub T);

impl<'py, T: DeserializeOwned> FromPyObject<'_, 'py> for Options<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut reader = serde_json::Deserializer::from_slice(object.extract()?);
        serde_path_to_error::deserialize(&mut reader)
            .map(Self)
            .map_err(|error| {
                let place = error.path().to_string();
                let reason = error.into_inner();
                PyValueError::new_err(match &place[..] {
                    "." | "?" => format!("the options cannot be read: {reason}"),
                    name => format!("the option {name} cannot be read: {reason}"),
                })
            })
    }
}
