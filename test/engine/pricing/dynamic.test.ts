import { describe, expect, test } from 'vitest';
import { newRecorder } from '../../../src/engine/explain/explanation-step.ts';
import { modelSteps } from '../../../src/engine/explain/model-steps.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { toMainUnit } from '../../../src/engine/money/units.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import { conversionFaults, eventAmountExponent } from '../../../src/engine/pricing/dynamic.ts';
import { price } from '../../../src/engine/pricing/price.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { validateProperties } from '../../../src/engine/pricing/validate-properties.ts';

const fee = (units: string, amounts: string, exponent = 2) =>
  usageFee({
    charge_model: 'dynamic',
    properties: {},
    usage: { units: decimal(units), eventsCount: 2, preciseTotalAmount: toMainUnit(decimal(amounts), exponent) },
    metric: { rounding_function: null, rounding_precision: null },
    exponent,
  });

test.each([
  ['golden case 12', '6', '1236.66', 1237],
  ['events without an amount', '6', '0', 0],
  ['no units', '0', '100', 0],
  ['amounts below 0', '6', '-5', 0],
])('a dynamic charge (%s) of %s units whose amounts sum up to %s costs %s cents', (_case, units, amounts, expected) => {
  expect(fee(units, amounts).amountCents).toBe(expected);
});

test('the amount of a dynamic event is in smallest units of the currency', () => {
  expect([fee('6', '1236.66', 0).amountCents, fee('6', '1236.66', 3).amountCents]).toEqual([1237, 1237]);
  expect(fee('6', '1236.66', 0).preciseUnitAmount.toFixed()).toBe('206.11');
});

test('usage without amounts is a defect', () => {
  expect(() => price('dynamic', {}, { units: decimal(1), eventsCount: 1 })).toThrow('amounts of its events');
});

describe('conversion and markup', () => {
  const terms = (properties: object, amounts: string, exponent: number) =>
    usageFee({
      charge_model: 'dynamic',
      properties: properties as Properties,
      usage: {
        units: decimal(3),
        eventsCount: 3,
        preciseTotalAmount: toMainUnit(decimal(amounts), eventAmountExponent(properties as Properties, { exponent })),
      },
      metric: { rounding_function: null, rounding_precision: null },
      exponent,
    });

  // biome-ignore format: a table
  test.each([
    // case  properties                                                                       exponent  precise      fee
    ['PB1', { amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' },           2,        '3.2731392', 3],
    ['PB2', { amount_currency: 'USD', conversion_rate: '150' },                               0,        '4.4472',    4],
    ['PB3', {},                                                                               2,        '2.9648',    3],
    ['a markup alone', { markup_rate: '-100' },                                               2,        '0',         0],
    ['a currency of three digits', { amount_currency: 'USD', conversion_rate: '0.3' },        3,        '8.8944',    9],
  ])('make of 2.9648 cents the fee of %s', (_case, properties, exponent, precise, amount) => {
    const fee = terms(properties, '2.9648', exponent);
    expect([fee.preciseAmountCents.toFixed(), fee.amountCents]).toEqual([precise, amount]);
  });

  test.each([
    [{ markup_rate: '10000' }, []],
    [{ markup_rate: '-100.01' }, ['invalid_markup_rate']],
    [{ markup_rate: '10000.1' }, ['invalid_markup_rate']],
    [{ markup_rate: 20 }, ['invalid_markup_rate']],
    [{ markup_rate: '1e3' }, ['invalid_markup_rate']],
    [{ conversion_rate: '0' }, ['invalid_conversion_rate']],
    [{ conversion_rate: '0.0000000000000001' }, ['invalid_conversion_rate']],
    [{ conversion_rate: {} }, ['invalid_conversion_rate']],
    [{ amount_currency: 'usd' }, ['invalid_amount_currency']],
    [{ amount_currency: ['USD'] }, ['invalid_amount_currency']],
    [{ amount_currency: '', conversion_rate: null, markup_rate: '' }, []],
  ])('of %j have the faults %j', (properties, codes) => {
    const checked = validateProperties('dynamic', properties);
    expect(checked.ok ? [] : checked.codes).toEqual(codes);
  });

  test('that are blank are not stored, so that a charge without any is answered with {}', () => {
    expect(validateProperties('dynamic', { markup_rate: null, conversion_rate: '' })).toEqual({
      ok: true,
      properties: {},
    });
  });

  test('need a rate where the currencies differ, and none beside a pricing unit', () => {
    const plan = (currency: string, hasPricingUnit = false) => ({ currency, hasPricingUnit });
    const usd = { amount_currency: 'USD' };
    expect(conversionFaults(usd, plan('EUR'))).toEqual({ conversion_rate: ['value_is_mandatory'] });
    expect(conversionFaults(usd, plan('USD'))).toEqual({});
    expect(conversionFaults({}, plan('EUR'))).toEqual({});
    expect(conversionFaults({ conversion_rate: '2' }, plan('EUR', true))).toEqual({
      conversion_rate: ['value_must_be_blank'],
    });
  });

  test('are steps of the explanation, and a charge without them has one step', () => {
    const usage = { units: decimal(3), eventsCount: 3, preciseTotalAmount: decimal('0.029648') };
    const stepsOf = (properties: Properties) => {
      const recorder = newRecorder();
      const amount = modelSteps(recorder, 'dynamic', properties, usage);
      return [recorder.steps.map(({ code }) => code), amount.toFixed()];
    };
    expect(stepsOf({})).toEqual([['sum_event_amounts'], '0.029648']);
    expect(stepsOf({ amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' })).toEqual([
      ['sum_event_amounts', 'convert', 'markup'],
      '0.032731392',
    ]);
  });
});
