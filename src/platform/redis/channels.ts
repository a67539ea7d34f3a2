/** Channel on which changed, rotated and deleted API keys and organizations are announced: `{organization_id}` as JSON. */
export const keyChangesChannel = (prefix: string): string => `${prefix}:key-changes`;

/** Hash of API key id → milliseconds of its last use; the job `key-usage` copies it to Postgres. */
export const keyUsageKey = (prefix: string): string => `${prefix}:key-usage`;
