import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';

type JsonSchema = Record<string, unknown>;

const amount = (description: string): JsonSchema => ({ type: 'string', description });
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] });
const price = amount('Price of a unit in the main unit of the currency, "0.05" for 5 cents');
const flat = amount('Amount that is due as soon as a unit falls into the range, in the main unit of the currency');

const bounds = {
  from_value: {
    type: ['number', 'string'],
    description: 'Lower bound in units: 0 for the first range, then the end of the former range plus 1',
  },
  to_value: {
    type: ['number', 'string', 'null'],
    description: 'Upper bound in units, included; null for the last range',
  },
};
const ranges = (amounts: JsonSchema): JsonSchema => ({
  type: 'array',
  minItems: 1,
  items: { type: 'object', required: ['from_value'], properties: { ...bounds, ...amounts } },
});
const perUnit = ranges({ per_unit_amount: price, flat_amount: flat });

const groupKeys = {
  pricing_group_keys: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Properties of events by which usage is grouped: each group makes a fee of its own',
  },
  grouped_by: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Former name of `pricing_group_keys`',
  },
  presentation_group_keys: {
    type: ['array', 'null'],
    maxItems: 2,
    description: 'Properties of events by which a fee is broken down, without any effect on its amount',
    items: {
      type: 'object',
      required: ['value'],
      properties: { value: { type: 'string' }, options: { type: 'object', additionalProperties: true } },
    },
  },
};

const limit = (which: string): JsonSchema =>
  orNull(amount(`${which} price of one event, in the main unit of the currency`));

interface Model {
  description: string;
  required: readonly string[];
  properties: Record<string, JsonSchema>;
  example: JsonSchema;
}

const MODELS: Record<Exclude<ChargeModelName, 'custom'>, Model> = {
  standard: {
    description: 'Every unit costs the same',
    required: ['amount'],
    properties: { amount: price },
    example: { amount: '0.05' },
  },
  graduated: {
    description: 'Units cost what the range asks into which each of them falls',
    required: ['graduated_ranges'],
    properties: { graduated_ranges: perUnit },
    example: {
      graduated_ranges: [
        { from_value: 0, to_value: 10, per_unit_amount: '0.5', flat_amount: '10' },
        { from_value: 11, to_value: null, per_unit_amount: '0.4', flat_amount: '0' },
      ],
    },
  },
  graduated_percentage: {
    description: 'A percentage of the units, by the range into which each of them falls',
    required: ['graduated_percentage_ranges'],
    properties: { graduated_percentage_ranges: ranges({ rate: amount('Percent: "1.5" is 1.5 %'), flat_amount: flat }) },
    example: {
      graduated_percentage_ranges: [
        { from_value: 0, to_value: 1000, rate: '1.5', flat_amount: '0' },
        { from_value: 1001, to_value: null, rate: '1', flat_amount: '0' },
      ],
    },
  },
  package: {
    description: 'Units are sold in whole packages, after free units',
    required: ['amount', 'package_size', 'free_units'],
    properties: {
      amount: amount('Price of a package in the main unit of the currency'),
      package_size: { type: 'integer', minimum: 1, description: 'Units in a package' },
      free_units: { type: 'integer', minimum: 0, description: 'Units that cost nothing' },
    },
    example: { amount: '100', package_size: 10, free_units: 5 },
  },
  percentage: {
    description: 'A percentage of the units, and an amount for each event',
    required: ['rate'],
    properties: {
      rate: amount('Percent: "1.5" is 1.5 %'),
      fixed_amount: orNull(amount('Amount for each event, in the main unit of the currency')),
      free_units_per_events: { type: ['integer', 'null'], minimum: 1, description: 'Events that cost nothing' },
      free_units_per_total_aggregation: orNull(amount('Units that cost nothing')),
      per_transaction_min_amount: limit('Least'),
      per_transaction_max_amount: limit('Highest'),
    },
    example: { rate: '1.5', fixed_amount: '0.1' },
  },
  volume: {
    description: 'All units cost what the range asks into which their total falls',
    required: ['volume_ranges'],
    properties: { volume_ranges: perUnit },
    example: { volume_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '0.5', flat_amount: '10' }] },
  },
  dynamic: {
    description: 'Each event brings its own amount, `precise_total_amount_cents`',
    required: [],
    properties: {
      amount_currency: { type: 'string', description: 'Currency of the events’ amounts; absent: that of the plan' },
      conversion_rate: amount(
        'Main units of the plan’s currency for one of `amount_currency`; mandatory where they differ',
      ),
      markup_rate: { type: 'string', description: 'Percent added to the amounts, -100 to 10000: "20" is 20 %' },
    },
    example: { amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' },
  },
};

/**
 * The properties of a charge by its charge model, for the API description. The model is a field beside them, so the
 * properties alone do not show which form applies. Rule: charges.md#properties.
 */
export const chargePropertiesShape = {
  id: 'ChargeProperties',
  description:
    'Prices of a charge, by its `charge_model`; fixed charges take those of standard, graduated and volume. ' +
    'Empty: the model’s defaults. The model `custom` is not offered.',
  anyOf: [
    ...Object.entries(MODELS).map(([title, { description, required, properties, example }]) => ({
      title,
      description,
      type: 'object',
      required,
      properties: { ...properties, ...groupKeys },
      examples: [example],
    })),
    { title: 'empty', type: 'object', maxProperties: 0 },
  ],
};
