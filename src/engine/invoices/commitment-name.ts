/** Name of a true-up to a minimum commitment that has none of its own. Rule: minimums.md. */
export const COMMITMENT_NAME = 'Minimum commitment - True up';
