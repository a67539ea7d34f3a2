import { testGoldenList } from './support/golden-list.ts';

// The list of golden cases of getting paid names the test of each, and leaves none out.
testGoldenList({
  page: 'golden-payments.md',
  about: 'getting paid',
  letters: 'FI',
  cases: 45,
  self: 'golden-payments.test.ts',
});
