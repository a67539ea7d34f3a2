import { isAmountText, plainAmount } from './amount-text.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { presentationKeyFaults, pricingKeyFaults } from './group-key-faults.ts';
import { chargeModel } from './price.ts';

export type ValidatedProperties = { ok: true; properties: Properties } | { ok: false; codes: string[] };

/**
 * Properties of a charge, or of a charge filter, in stored form: unknown keys dropped, blank group keys dropped,
 * `grouped_by` kept as `pricing_group_keys`, amounts in plain digits. Empty ones become the model's defaults.
 *
 * codes all faults, repeated for repeated faults; all belong to the field `properties`
 *
 * Presentation group keys belong to the charge: those inside a filter's properties are dropped unread.
 *
 * Rule: charges.md#properties.
 */
export function validateProperties(
  name: ChargeModelName,
  given: unknown,
  { isFilter = false }: { isFilter?: boolean } = {},
): ValidatedProperties {
  const model = chargeModel(name);
  if (isBlank(given)) return { ok: true, properties: model.defaults };
  if (!isObject(given)) return { ok: false, codes: ['invalid_type'] };

  const pricingKeys = given.pricing_group_keys ?? given.grouped_by;
  const presentationKeys = isFilter ? undefined : given.presentation_group_keys;
  const codes = [...model.faults(given), ...pricingKeyFaults(pricingKeys), ...presentationKeyFaults(presentationKeys)];
  if (codes.length > 0) return { ok: false, codes };

  const own = Object.fromEntries(Object.entries(given).filter(([key]) => model.keys.includes(key)));
  const named = withoutBlanks(pricingKeys as string[] | null | undefined);
  return {
    ok: true,
    properties: {
      ...withPlainAmounts(model.stored?.(own) ?? own),
      ...(named.length > 0 ? { pricing_group_keys: named } : {}),
      ...(presentationKeys === undefined || presentationKeys === null
        ? {}
        : { presentation_group_keys: presentationKeys }),
    },
  };
}

/** Properties as the API shows them: with both names of the pricing group keys, if there are any. */
export const shownProperties = (properties: Properties): Properties =>
  properties.pricing_group_keys === undefined
    ? properties
    : { ...properties, grouped_by: properties.pricing_group_keys };

/** The texts of a model's own properties are its amounts, also those of its ranges. */
const withPlainAmounts = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([key, value]) => {
      if (Array.isArray(value)) return [key, value.map(withPlainAmounts)];
      return [key, isAmountText(value) ? plainAmount(value) : value];
    }),
  );

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);

const withoutBlanks = (keys: readonly string[] | null | undefined): string[] =>
  (keys ?? []).filter((key) => key.trim() !== '');
