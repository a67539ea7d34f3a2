import { signal } from '@preact/signals';

/** Whether the clock of the open sandbox moves: nothing can be written until it is there. */
export const isClockAdvancing = signal(false);
