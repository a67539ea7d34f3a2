import { testGoldenList } from './support/golden-list.ts';

// The list of golden cases of more than one machine names the test of each, and leaves none out.
testGoldenList({
  page: 'golden-scale.md',
  about: 'more than one machine',
  letters: 'SC',
  cases: 14,
  self: 'golden-scale.test.ts',
});
