import { describe, expect, test } from 'vitest';
import { tooMuch } from '../../bench/harness/ceilings.ts';
import { formatRatio, goals, judge } from '../../bench/harness/goals.ts';
import { fails } from '../../bench/harness/report.ts';

describe('goals of a benchmark ratio', () => {
  test.each([
    ['G1', 2.1, 'quiet', 'goal'],
    ['G1', 1.6, 'quiet', 'ok'],
    ['G1', 1.4, 'quiet', 'below floor'],
    ['G1', 1.4, 'noisy', 'noisy'],
    ['G8', 2.4, 'quiet', 'goal'],
    ['G8', 3.9, 'quiet', 'ok'],
    ['G8', 4.1, 'quiet', 'below floor'],
    ['G10', 1 / 600, 'quiet', 'goal'],
    ['G10', 1 / 99, 'quiet', 'below floor'],
  ] as const)('the goal %s with the ratio %d in a %s run is judged as %s', (id, ratio, run, status) => {
    expect(judge(goals[id], ratio, run === 'noisy')).toBe(status);
  });
});

describe('failing benchmark runs', () => {
  test('a benchmark run fails for a missed floor', () => {
    expect(fails([{ id: 'G2', status: 'below floor' }], [])).toBe(true);
  });

  test('a benchmark run does not fail for an estimated floor, for noise or for a skipped section', () => {
    const lines = [
      { id: 'G7', status: 'below floor' },
      { id: 'G2', status: 'noisy' },
      { id: 'G12', status: 'skipped' },
    ] as const;
    expect(fails([...lines], [])).toBe(false);
  });

  test('a benchmark run fails for anything stored wrongly, whatever its speed', () => {
    expect(fails([{ id: 'G2', status: 'goal' }], [{ what: 'rows', expected: 2, found: 1 }])).toBe(true);
  });
});

const cost = {
  units: 10,
  cpuUs: {},
  statements: 0.1,
  roundTrips: 0.1,
  redisCommands: 1,
  walBytes: 100,
  pageImageBytes: 1_000_000,
  bufferHits: 10,
  redisByCommand: {},
};

describe('costs of a unit', () => {
  test('a count above its ceiling is named and fails a benchmark run', () => {
    const dear = { ...cost, redisCommands: 1_000, walBytes: 1_000_000 };
    expect(tooMuch('event sent alone', dear)).toEqual(['redisCommands', 'walBytes']);
    expect(fails([], [], { 'event sent alone': dear })).toBe(true);
  });

  test('processor time above its goal is shown and fails nothing', () => {
    const slow = { ...cost, cpuUs: { ingress: 1_000_000 } };
    expect(tooMuch('event sent alone', slow)).toEqual([]);
    expect(fails([], [], { 'event sent alone': slow })).toBe(false);
  });
});

test.each([
  ['G1', 1.234, '1.23'],
  ['G6', 0.0123, '1.23 %'],
  ['G10', 1 / 560, '1/560'],
  ['G15', 12.34, '12.3 B'],
] as const)('the report shows %s %d as %s', (id, ratio, text) => {
  expect(formatRatio(goals[id], ratio)).toBe(text);
});
