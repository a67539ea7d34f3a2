/** Names and indexes from the content of a body, or from a query, to a value. */
export type Path = readonly (string | number)[];

/** The place in an input of a field's error code. */
export interface FoundPlace {
  /** Key of `error_details` with the code. */
  field: string;
  code: string;
  path: Path;
  /** Whether the place is in the query, not in the body. */
  isQuery?: boolean;
  /** The accepted values. */
  allowed?: readonly unknown[];
  /** Why the value is refused, in words, if its code has several causes. */
  reason?: string;
}

const found = new WeakMap<object, FoundPlace[]>();

/** The places of error codes, kept beside `error_details`, whose form the interface fixes. */
export const placesOf = (faults: object): readonly FoundPlace[] => found.get(faults) ?? [];

export function notePlaces(faults: object, places: readonly FoundPlace[]): void {
  found.set(faults, [...placesOf(faults), ...places]);
}
