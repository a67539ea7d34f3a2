import { expect, test } from 'vitest';
import { positionText, readPosition, readSortable, sortableText } from '../../src/platform/positions/position.ts';

test('a position is read from the text of Postgres and written as Postgres writes it', () => {
  expect(readPosition('16/B374D848')).toBe(0x16_b374_d848n);
  expect(readPosition('0/0')).toBe(0n);
  expect(readPosition('FFFFFFFF/FFFFFFFF')).toBe(0xffff_ffff_ffff_ffffn);
  for (const text of ['0/1A2B3C', '16/B374D848', 'FFFFFFFF/FFFFFFFF', '1/0'])
    expect(positionText(readPosition(text)!)).toBe(text);
});

test('what is no position is none', () => {
  for (const text of ['', '16', '16/', '/16', '16/G', ' 16/1', '16/1 ', '123456789/0', '0/123456789', '-1/0', '1/2/3'])
    expect(readPosition(text)).toBeUndefined();
});

test('sortable texts of positions sort like the positions, also where a half has fewer digits', () => {
  const positions = ['0/1', '0/FFFFFFFF', '1/0', '9/1', 'A/0', '10/0', 'FFFFFFFF/0'].map((text) => readPosition(text)!);
  const texts = positions.map(sortableText);
  expect([...texts].sort()).toEqual(texts);
  expect(texts.map(readSortable)).toEqual(positions);
});
