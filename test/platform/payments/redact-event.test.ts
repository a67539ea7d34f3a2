import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasCheckDigit } from '../../../src/platform/payments/card-numbers.ts';
import { redactedEvent, redactedPart } from '../../../src/platform/payments/redact-event.ts';

// Rule: provider-connections.md#redaction.
const stored = (object: object) => (redactedEvent({ id: 'evt_1', type: 't', object }) as { object: object }).object;

describe('what of a provider event is stored', () => {
  test.each([
    ['a card with blanks is cut to its last four digits', { text: '4242 4242 4242 4242' }, { text: '[card …4242]' }],
    ['digits without the check digit of a card stay', { text: '1234567890123456' }, { text: '1234567890123456' }],
    ['a card with dashes', { text: '4111-1111-1111-1111' }, { text: '[card …1111]' }],
    ['a card in the middle of a sentence', { d: 'Card 4111111111111111 no.' }, { d: 'Card [card …1111] no.' }],
    ['a card of 13 digits', { text: '4222222222222' }, { text: '[card …2222]' }],
    ['a card of 19 digits', { text: '6304000000000000117' }, { text: '[card …0117]' }],
    ['12 digits are no card', { text: '424242424242' }, { text: '424242424242' }],
    ['20 digits are no card', { text: '42424242424242424242' }, { text: '42424242424242424242' }],
    ['a card before its last month', { d: '4242424242424242 12/27' }, { d: '[card …4242] 12/27' }],
    ['a card before its code', { d: '4242 4242 4242 4242 123' }, { d: '[card …4242] 123' }],
    ['a card after a date', { d: '12/27 4242424242424242' }, { d: '12/27 [card …4242]' }],
    ['a card after its number in a list', { d: 'card 2 4242424242424242' }, { d: 'card 2 [card …4242]' }],
    ['a card after a word with digits', { d: 'ref12 4242424242424242' }, { d: 'ref12 [card …4242]' }],
    ['a card with two blanks', { d: '4242  4242  4242  4242' }, { d: '[card …4242]' }],
    ['two cards', { d: '4242424242424242 4111-1111-1111-1111' }, { d: '[card …4242] [card …1111]' }],
    [
      'a UUID of digits',
      { of: '01907777-0000-7000-8000-000000000000' },
      { of: '01907777-0000-7000-8000-000000000000' },
    ],
    ['a card under a name that ends like an id', { paid: '4242424242424242' }, { paid: '[card …4242]' }],
    ['a card in a list', { list: ['4242424242424242'] }, { list: ['[card …4242]'] }],
    ['a card as a name', { '4242424242424242': 1 }, { '[card …4242]': 1 }],
    ['an id that looks like a card', { id: '4242424242424242' }, { id: '4242424242424242' }],
    ['a reference that looks like a card', { pspReference: '4242424242424242' }, { pspReference: '4242424242424242' }],
    ['an id with a prefix', { charge: 'ch_4242424242424242' }, { charge: 'ch_4242424242424242' }],
    ['a telephone number', { phone: '+4242424242424242' }, { phone: '+4242424242424242' }],
    [
      'the name of our customer in the metadata',
      { metadata: { external_customer_id: '4242424242424242', number: '7' } },
      { metadata: { external_customer_id: '4242424242424242', number: '7' } },
    ],
    [
      'a card that somebody else put into the metadata',
      { metadata: { card: '4242424242424242' } },
      { metadata: { card: '[card …4242]' } },
    ],
    ['an IBAN', { iban: 'DE89370400440532013000' }, { iban: '[…3000]' }],
    ['a short account number', { account_number: '1234567' }, { account_number: '[redacted]' }],
    ['a number that is no text', { number: 4_242_424_242_424_242 }, { number: '[card …4242]' }],
    ['the code on a card', { cvc: '123', CVV2: 456 }, { cvc: '[redacted]', CVV2: '[redacted]' }],
    ['the secret of a payment page', { client_secret: 'pi_1_secret_2' }, { client_secret: '[redacted]' }],
    ['an object in place of a number', { number: { of: '4242' } }, { number: '[redacted]' }],
    ['checks that hold yes, no or nothing', { pin: null, cvc: true }, { pin: null, cvc: true }],
    ['amounts and times', { amount: 4_242_424_242_424_242, created: 1 }, { amount: 4_242_424_242_424_242, created: 1 }],
  ])('%s', (_, sent, kept) => {
    expect(stored(sent)).toEqual(kept);
  });

  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  test.each([
    [32, nested(32)],
    [33, { redacted: true, id: undefined, type: undefined }],
  ])('of an event with %i levels, only its name is stored if it is deeper than 32', (levels, kept) => {
    expect(redactedEvent(nested(levels))).toEqual(kept);
  });

  test('a body that is no event keeps neither cards nor codes', () => {
    const text = '{"number":"1234","x":"4242 4242 4242 4242","cvc":123,"client_secret":"a\\"b","ok":[1';
    expect(redactedPart(text)).toBe(
      '{"number":"[redacted]","x":"[card …4242]","cvc":"[redacted]","client_secret":"[redacted]","ok":[1',
    );
  });
});

/** A number of `length` digits with its check digit. */
const card = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 12, maxLength: 18 })
  .map((digits) => digits.join(''))
  .map((digits) => `${digits}${[...'0123456789'].find((last) => hasCheckDigit(digits + last))}`);
const spread = fc.tuple(card, fc.constantFrom('', ' ', '-')).map(([digits, between]) => ({
  digits,
  text: digits.match(/\d{1,4}/g)!.join(between),
}));

test('no card is left wherever in an event it stands, and a second walk changes nothing', () => {
  fc.assert(
    fc.property(
      spread,
      fc.constantFrom('description', 'number', 'name', 'cvc'),
      fc.integer({ min: 0, max: 25 }),
      fc.string(),
      ({ digits, text }, name, levels, beside) => {
        let event: object = { [name]: text, in_words: `paid with ${text}, thanks`, beside };
        for (let level = 0; level < levels; level += 1) event = level % 2 === 0 ? [event] : { inner: event };
        const kept = JSON.stringify(redactedEvent({ event }));
        expect(kept.replaceAll(/[ -]/g, '')).not.toContain(digits);
        expect(JSON.stringify(redactedEvent(JSON.parse(kept)))).toBe(kept);
      },
    ),
  );
});
