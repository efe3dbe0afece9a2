package signin_test

const ()
