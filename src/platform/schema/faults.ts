import { own } from '../../engine/own.ts';
import type { FieldCodes } from '../../engine/pricing/combination-rules.ts';
import { notePlaces, type Path, placesOf } from '../found-places.ts';
import { type FieldErrors, refuse } from '../refusal.ts';

/**
 * Adds the codes of one part of an input to those of the others. Only `properties` keeps repetitions, because its list
 * shows how often a code occurs (charges.md#properties).
 *
 * at path of the part in the input, to which its codes are relative
 */
export function addFaults(faults: FieldCodes, more: FieldCodes, at: Path = []): void {
  for (const [field, codes] of Object.entries(more)) {
    const all = [...(own(faults, field) ?? []), ...codes];
    faults[field] = field === 'properties' ? all : [...new Set(all)];
  }
  const noted = placesOf(more);
  const direct = Object.entries(more)
    .filter(([field]) => !noted.some((place) => place.field === field))
    .flatMap(([field, codes]) => codes.map((code) => ({ field, code, path: field.split('.') })));
  notePlaces(
    faults,
    [...noted, ...direct].map((place) => ({ ...place, path: [...at, ...place.path] })),
  );
}

/** The same faults under names prefixed with the object in which they were found. */
export function faultsBelow(name: string, faults: FieldCodes): FieldCodes {
  const below = (field: string) => `${name}.${field}`;
  const renamed = Object.fromEntries(Object.entries(faults).map(([field, codes]) => [below(field), codes]));
  notePlaces(
    renamed,
    placesOf(faults).map((place) => ({ ...place, field: below(place.field), path: [name, ...place.path] })),
  );
  return renamed;
}

/** @throws Refusal 422, if there is any fault */
export function refuseFaults(faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw refuse.invalid(faults);
}
