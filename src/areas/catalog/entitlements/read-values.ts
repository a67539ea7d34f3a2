import type { Values } from '../../../engine/entitlements/merge-overrides.ts';
import { readValue } from '../../../engine/entitlements/privilege-value.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { PrivilegeJson } from '../features/queries.ts';
import type { GivenFeature } from './schema.ts';

interface Known {
  code: string;
  privileges: PrivilegeJson[];
}

/**
 * The values of an input as texts, by feature code and privilege code, in the order of the input.
 *
 * @throws Refusal 404 privilege
 * @throws Refusal 422 privilege.value: value_is_mandatory; `<privilege>_privilege_value`: value_is_invalid,
 *   value_not_in_select_options, invalid_format
 * Rules: entitlements.md#records, error-bodies.md#codes-by-field "entitlement".
 */
export function readGiven(given: readonly GivenFeature[], features: readonly Known[]): Map<string, Values> {
  const faults: Record<string, string[]> = {};
  const read = new Map<string, Values>();
  for (const { feature_code, values } of given) {
    const texts = new Map<string, string>();
    // Codes were looked up by the caller.
    const { privileges } = features.find(({ code }) => code === feature_code)!;
    for (const { privilege_code, value } of values) {
      const privilege = privileges.find(({ code }) => code === privilege_code);
      if (!privilege) throw refuse.notFound('privilege');
      const result = readValue(privilege.value_type, privilege.select_options, value);
      if (result.ok && isStorable(result.text)) texts.set(privilege_code, result.text);
      else {
        const reason = result.ok ? 'invalid_format' : result.reason;
        const field = reason === 'value_is_mandatory' ? 'privilege.value' : `${privilege_code}_privilege_value`;
        faults[field] = [reason];
      }
    }
    read.set(feature_code, texts);
  }
  refuseFaults(faults);
  return read;
}
