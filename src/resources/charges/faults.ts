import type { FieldCodes } from '../../engine/pricing/combination-rules.ts';
import { refuse } from '../../platform/refusal.ts';

/**
 * Adds the codes of one part of an input to those of the others. Only `properties` keeps repetitions: its list tells
 * how often (usage-and-charges D.4).
 */
export function addFaults(faults: FieldCodes, more: FieldCodes): void {
  for (const [field, codes] of Object.entries(more)) {
    const all = [...(faults[field] ?? []), ...codes];
    faults[field] = field === 'properties' ? all : [...new Set(all)];
  }
}

/** @throws Refusal 422, when anything is wrong */
export function refuseFaults(faults: FieldCodes): void {
  if (Object.keys(faults).length > 0) throw refuse.invalid(faults);
}
