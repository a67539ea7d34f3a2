/** Minutes after the first attempts to ask the register; then every hour. Rule: eu-taxes.md. */
const DELAYS_MINUTES = [5, 5, 10, 20, 40];
const LATER_MINUTES = 60;

/** Minutes to the next attempt after `attempts` that failed. */
export const retryDelayMinutes = (attempts: number): number => DELAYS_MINUTES[attempts - 1] ?? LATER_MINUTES;
