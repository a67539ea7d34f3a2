import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERROR_CODES, errorCodesOf, FIELD_CODES, GROUPS } from '../src/ingress/error-codes.ts';
import { operations } from '../src/operations.ts';
import { projectRoot } from '../src/platform/project-root.ts';
import { expectInDocument, tableOf } from './support/kept-table.ts';

const known = new Set(ERROR_CODES.map(({ code }) => code));
const sources = readdirSync(join(projectRoot(), 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('error-codes.ts') && !file.endsWith('field-codes.ts'))
  .map((file) => ({ file, text: readFileSync(join(projectRoot(), 'src', file), 'utf8') }));

/** Where a code of an answer stands in the code: refused by name, under a field, or as a schema's message. */
const USES = [
  /refuse\.(?:notAllowed|forbidden)\(\s*'(\w+)'/g,
  /refuse\.badRequest\(\s*'([a-z]+(?:_[a-z]+)+)'/g,
  /new Refusal\(\s*\d+, \{[^}]*code: '(\w+)'/g,
  /\.refine\([^;']*?, '([a-z]+(?:_[a-z]+)+)'\)/g,
  /\[[\w.$`{}]+\]: \['([a-z]+(?:_[a-z]+)+)'\]/g,
  /refuse\.invalid\(\{ \w+: \['([a-z]+(?:_[a-z]+)+)'\]/g,
  /(?:fault|addFault)\([^;']*?(?:'[^']*'[^;']*?)?'([a-z]+(?:_[a-z]+)+)'\)/g,
  // Words that begin or end as codes do, wherever they stand.
  /'((?:invalid|values?|missing|must|not|too|no|is|only|mixed|cannot|already|exceeds|does)_\w+)'/g,
  /'(\w+_(?:not_found|not_supported|required|missing|mandatory))'/g,
];

/** Words like codes: reasons of verdicts, states, settings, and codes of providers and registers. */
const NOT_CODES = new Set([
  'not_vat',
  'no_access_point',
  'billed_units_missing',
  'is_byok',
  'is_new',
  'missing_kinds',
  'no_provider',
  'no_conversion_rate',
  'not_billed',
  'not_invoiced',
  'no_price',
  'invalid_price',
  'invalid_time',
  'no_receiver_address',
  'already_paid',
  'amount_too_small',
  'fixed_amount',
  'network_error',
  'payment_method_not_available',
  'rate_limit',
  'resource_missing',
  'authentication_required',
  'customer_action_required',
  'currency_not_supported',
  'group_key_missing',
  'invalid_requester',
  'is_billable_metric_recurring',
  'is_active',
  'is_default',
  'is_full',
  'not_collecting',
  'metric_not_found',
  'no_charge',
  'invalid_union',
  'no_expiration',
  'no_filter_matches',
  'no_filter_on_charge',
  'no_proxy',
  'not_applicable',
  'not_counted',
  'not_provided',
  'not_understood',
  'not_vat',
  'not_verifiable',
  'only_filter_that_matches',
  'property_missing',
  'subscription_missing',
  'resource_missing',
  'subscription_not_found',
  'target_wallet_not_found',
  'too_big',
  'too_many_steps',
  'too_small',
  'value_type',
]);

test('every code of a refusal in the source is in the table', () => {
  const used = new Map<string, string>();
  for (const { file, text } of sources)
    for (const use of USES) for (const [, code] of text.matchAll(use)) used.set(code!, file);
  expect(used.size).toBeGreaterThan(80);
  const isKnown = (code: string): boolean =>
    known.has(code) || NOT_CODES.has(code) || /^(read|write)_action_not_allowed_for_/.test(code);
  expect([...used].filter(([code]) => !isKnown(code)).map(([code, file]) => `${code} in ${file}`)).toEqual([]);
});

test('every code of the contract is in the table, and every row is a code of the source', () => {
  const contract = readFileSync(new URL('contract/codes.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(contract.filter((code) => !known.has(code))).toEqual([]);
  const all = sources.map(({ text }) => text).join('\n');
  const composed = /^(MODE_|invalid_(granted|paid|voided)_credits|(invalid|missing)_graduated_ranges)/;
  expect([...known].filter((code) => !composed.test(code) && !all.includes(`'${code}'`))).toEqual([]);
});

test('a row of the error table names existing operations only', () => {
  const words = new Set([...Object.keys(GROUPS), ...operations.flatMap(({ name, tag }) => [name, tag])]);
  const unknown = ERROR_CODES.flatMap(({ code, at }) =>
    at.filter((word) => !words.has(word)).map((w) => `${code}: ${w}`),
  );
  expect(unknown).toEqual([]);
  expect(new Set(ERROR_CODES.map(({ code }) => code)).size).toBe(ERROR_CODES.length);
});

test('an operation is described with the error codes that it answers', () => {
  const codesOf = (name: string) =>
    errorCodesOf(operations.find((each) => each.name === name)!).map(({ code }) => code);
  expect(codesOf('regenerateInvoice')).toEqual(expect.arrayContaining(['not_regenerable', 'object_not_found']));
  expect(codesOf('findAllPlans')).not.toContain('not_regenerable');
});

test('docs/errors.md equals the error table', () => {
  const name = (word: string): string => GROUPS[word as keyof typeof GROUPS] ?? `\`${word}\``;
  const rows = (isOfField: boolean) =>
    ERROR_CODES.filter(({ code }) => FIELD_CODES.has(code) === isOfField).map(({ status, code, at, means, remedy }) => [
      ...(isOfField ? [] : [String(status)]),
      `\`${code}\``,
      means,
      remedy,
      at.map(name).join(', '),
    ]);
  const columns = ['Code', 'Means', 'What to do', 'Occurs in'];
  expectInDocument('docs/errors.md', 'codes', tableOf(['Status', ...columns], rows(false)));
  expectInDocument('docs/errors.md', 'fields', tableOf(columns, rows(true)));
});
