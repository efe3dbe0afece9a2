package permissions_test

// The states of objects in fixtures.
const ()
