import { expect, test } from 'vitest';
import { accentOf } from '../../src/platform/accent.ts';

test.each([
  ['#2456c9', '#2456c9', '#6689d9'],
  ['#ffd400', '#806a00', '#ffd400'],
  ['#e91e63', '#d21b59', '#ed4b82'],
  ['#00ff88', '#008044', '#00ff88'],
  ['#111111', '#111111', '#888888'],
  ['#ffffff', '#666666', '#ffffff'],
])('the accent colour %s is %s in light and %s in dark (CO31)', (colour, light, dark) => {
  expect(accentOf(colour)).toEqual({ light, dark });
});
