import { describe, expect, test } from 'vitest';
import { stretchesOf } from '../../../src/platform/documents/direction.ts';
import { fontsFor } from '../../../src/platform/documents/fonts.ts';
import { runsOf } from '../../../src/platform/documents/runs.ts';

const plain = (text: string) => ({ text, isReversed: false });
const reversed = (text: string) => ({ text, isReversed: true });

describe('a text from right to left', () => {
  test.each([
    ['a Hebrew name keeps its words together', 'דוד לוי', [reversed('דוד\u00a0לוי')]],
    ['an Arabic one too', 'شركة النور', [reversed('شركة\u00a0النور')]],
    [
      'among Latin words it stands where it is written, with both spaces',
      'Acme דוד לוי Ltd',
      [plain('Acme '), reversed('דוד\u00a0לוי'), plain(' Ltd')],
    ],
    [
      'a number behind it stands to its left, and is read from left to right',
      'הרצל 12',
      [plain('12'), plain(' '), reversed('הרצל')],
    ],
    [
      'a number between its words stands between them',
      'רחוב 12 עיר',
      [reversed('עיר'), plain(' '), plain('12'), plain(' '), reversed('רחוב')],
    ],
    ['brackets are mirrored', 'דוד (לוי) כהן', [reversed('דוד\u00a0)לוי(\u00a0כהן')]],
    ['lines stay lines', 'Acme\nדוד לוי', [plain('Acme'), plain('\n'), reversed('דוד\u00a0לוי')]],
  ])('%s', (_, text, stretches) => {
    expect(stretchesOf(text)).toEqual(stretches);
  });

  test('one that is longer than a line may be broken between words', () => {
    const stretches = stretchesOf(Array.from({ length: 30 }, () => 'שלום').join(' '))!;
    expect(stretches.map(({ text }) => text.length)).toEqual([59, 1, 59, 1, 29]);
    expect(stretches.filter(({ isReversed }) => !isReversed).map(({ text }) => text)).toEqual([' ', ' ']);
  });

  test('one without such letters is left as it is', () => {
    expect(stretchesOf('Zażółć 株式会社 12')).toBeUndefined();
  });

  test('is set in one run where one font has all of it', () => {
    expect(runsOf('דוד לוי', fontsFor('', null))).toEqual([{ text: 'דוד\u00a0לוי', font: 'wide' }]);
    expect(runsOf('דוד 株式', fontsFor('', null))).toEqual([
      { text: 'דוד', font: 'wide' },
      { text: ' ', font: 'main' },
      { text: '株式', font: 'chinese' },
    ]);
  });
});
