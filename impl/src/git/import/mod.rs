//! After the attempt: the step's commits are taken out of its private store, checked, and put on the attempt's own branch.
