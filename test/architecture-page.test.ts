import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { APPLIED_COUPON_MOVES, COUPON_MOVES } from '../src/engine/credits/coupon-states.ts';
import { CREDIT_MOVES } from '../src/engine/credits/credit-note-states.ts';
import { HOLD_MOVES } from '../src/engine/credits/wallet-hold.ts';
import { INVOICE_MOVES } from '../src/engine/invoices/invoice-states.ts';
import { ORDER_FORM_MOVES, ORDER_MOVES, QUOTE_VERSION_MOVES } from '../src/engine/quotes/quote-states.ts';
import { RULE_MOVES } from '../src/engine/subscriptions/activation-rule-states.ts';
import { SUBSCRIPTION_MOVES } from '../src/engine/subscriptions/subscription-states.ts';
import { projectRoot } from '../src/platform/project-root.ts';
import { expectInDocument, tableOf } from './support/kept-table.ts';

const PAGE = 'docs/architecture.md';
const read = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`);

test('docs/architecture.md lists every advisory-lock number of the code and no other', () => {
  const numbers = new Set<number>();
  for (const file of [...filesIn('src', '.ts'), ...filesIn('migrations', '.sql')]) {
    const text = read(file);
    if (!/pg_(try_)?advisory/.test(text)) continue;
    for (const [, number] of text.matchAll(/const (?:\w+_SEED|\w+_LOCK|LOCK_SPACE) = ([\d_]+);/g))
      numbers.add(Number(number!.replaceAll('_', '')));
    for (const [, number] of text.matchAll(/hashtextextended\([^\n]*?, (\d+)\)/g)) numbers.add(Number(number));
    // Every call's number is a constant that is found above, or a literal.
    for (const [, argument] of text.matchAll(/pg_(?:try_)?advisory_\w+\([^\n]*?\$\{([A-Z_]+)\}/g))
      expect(text, file).toMatch(new RegExp(`const ${argument} = [\\d_]+;`));
  }
  const listed = [...read(PAGE).matchAll(/^\| (\d+) \| (?:hashed|first|plain)/gm)].map(([, number]) => Number(number));
  expect(numbers.size).toBeGreaterThan(10);
  expect(new Set(listed)).toEqual(numbers);
});

test('docs/architecture.md lists the areas in their order with what each holds', () => {
  const [, list] = /const AREAS = \[([^\]]+)\]/.exec(read('test/architecture.test.ts'))!;
  const areas = [...list!.matchAll(/'(\w+)'/g)].map(([, area]) => area!);
  expect(areas.length).toBeGreaterThan(10);
  const rows = areas.map((area) => {
    const [, purpose] = read(`src/areas/${area}/README.md`).split('\n\n');
    return [`[${area}](../src/areas/${area}/README.md)`, purpose!.trim().replaceAll('\n', ' ')];
  });
  expectInDocument(PAGE, 'areas', tableOf(['Area', 'Holds'], rows));
});

test('docs/architecture.md lists the reactions in their order', () => {
  const calls = [...read('src/reactions.ts').matchAll(/\bon\(\s*(\w+)\.(\w+),([^)]+)\)/g)];
  expect(calls.length).toBeGreaterThan(15);
  const rows = calls.map(([, area, announcement, handlers]) => [
    `${area}`,
    `\`${announcement}\``,
    [...handlers!.matchAll(/\w+/g)].map(([handler]) => `\`${handler}\``).join(', '),
  ]);
  expectInDocument(PAGE, 'reactions', tableOf(['Area', 'Announces', 'Then'], rows));
});

test('docs/architecture.md shows the state machines of the engine', () => {
  const machines: [string, Readonly<Record<string, readonly string[]>>][] = [
    ['subscription', SUBSCRIPTION_MOVES],
    ['activation rule', RULE_MOVES],
    ['invoice', INVOICE_MOVES],
    ['credit of a credit note', CREDIT_MOVES],
    ['wallet hold', HOLD_MOVES],
    ['coupon', COUPON_MOVES],
    ['applied coupon', APPLIED_COUPON_MOVES],
    ['quote version', QUOTE_VERSION_MOVES],
    ['order form', ORDER_FORM_MOVES],
    ['order', ORDER_MOVES],
  ];
  const declared = filesIn('src/engine', '.ts').flatMap((file) => [
    ...read(file).matchAll(/export const \w+_MOVES\b/g),
  ]);
  expect(machines.length).toBe(declared.length);
  const rows = machines.flatMap(([name, moves]) =>
    Object.entries(moves).map(([from, to], index) => [
      index === 0 ? `**${name}**` : '',
      `\`${from}\``,
      to.length === 0 ? 'ends' : to.map((state) => `\`${state}\``).join(', '),
    ]),
  );
  expectInDocument(PAGE, 'states', tableOf(['Record', 'From', 'To'], rows));
});
