import { expect, test } from 'vitest';
import { redactedText } from '../../../src/platform/api-log/redact.ts';

// logs.md#api-logs "Redaction".
test.each([
  'password',
  'new_Password',
  'secret',
  'client_secret',
  'token',
  'accessToken',
  'api_key',
  'API_KEY',
  'authorization',
  'certificate',
  'private_key',
  'signed_document',
  'logo',
  'otp',
  'ssn',
  'hmac_key',
  'card',
  'card_number',
  'cardNumber',
  'iban',
  'payer_IBAN',
])('a value under %s is redacted at any depth', (key) => {
  expect(redactedText({ a: [{ [key]: 'hush', shown: 1 }] })).toBe(`{"a":[{"${key}":"[FILTERED]","shown":1}]}`);
  expect(redactedText({ [key]: { inner: 'hush' } })).toBe(`{"${key}":"[FILTERED]"}`);
});

test.each(['discarded', 'cardinality', 'provider_payment_methods', 'libanon'])(
  'a value under %s is not redacted',
  (key) => {
    expect(redactedText({ [key]: ['card'] })).toBe(`{"${key}":["card"]}`);
  },
);

test('a name and value pair with a secret name is redacted like a field of that name', () => {
  const metadata = [
    { key: 'password', value: 'hush' },
    { key: 'floor', value: '3' },
  ];
  expect(JSON.parse(redactedText({ metadata })!)).toEqual({
    metadata: [{ key: 'password', value: '[FILTERED]' }, metadata[1]],
  });
});

test.each([
  ['https://a.example/hook?token=hush&b=1#top', 'https://a.example/hook?token=[FILTERED]&b=[FILTERED]#top'],
  ['https://somebody:hush@a.example/hook', 'https://[FILTERED]@a.example/hook'],
  ['https://a.example/hook', 'https://a.example/hook'],
  ['no address?token=hush', 'no address?token=hush'],
])('a URL is shown without its secret parts: %s', (address, shown) => {
  expect(JSON.parse(redactedText({ webhook_url: address, webhook_urls: [address] })!)).toEqual({
    webhook_url: shown,
    webhook_urls: [shown],
  });
});

test('a public key is shown, and an absent value stays absent', () => {
  expect(redactedText({ public_key: 'shown', code: null })).toBe('{"public_key":"shown","code":null}');
  expect(redactedText(null)).toBeNull();
  expect(redactedText(undefined)).toBeNull();
});

test.each([
  // JSON adds two quotes.
  ['a', 65_534, 65_536],
  ['é', 32_767, 32_769],
  ['😀', 16_383, 32_768],
])('a body of %s is shown whole up to 64 KiB', (character, count, length) => {
  const whole = redactedText(character.repeat(count))!;
  expect(whole).toHaveLength(length);
  expect(whole.endsWith('"')).toBe(true);
});

test.each([
  ['a', 65_535, `"${'a'.repeat(65_535)}`],
  ['é', 32_768, `"${'é'.repeat(32_767)}`],
  ['😀', 16_384, `"${'😀'.repeat(16_383)}`],
  ['x😀', 20_000, `"${'x😀'.repeat(13_107)}`],
])('a longer body of %s is cut at 64 KiB between two characters', (character, count, kept) => {
  const text = redactedText(character.repeat(count))!;
  expect(text).toBe(`${kept}[TRUNCATED]`);
  expect(text.isWellFormed()).toBe(true);
});
