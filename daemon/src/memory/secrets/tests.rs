//! Tests of the rule table: shapes of secrets that must be found, and ordinary sentences that must not be touched.
