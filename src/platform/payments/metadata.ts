/**
 * The texts of what was sent along with a record: metadata holds nothing else, and other values name no record of ours.
 */
export const textsOf = (metadata: object | null | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata ?? {}).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
