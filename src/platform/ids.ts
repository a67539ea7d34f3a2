import { v7 } from 'uuid';

/** A new UUID v7 from the real clock, growing within a process: ids break ties of business time (README decision 8). */
export const newId = (): string => v7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be sent to Postgres as a uuid; anything else in a path is simply not found. */
export const isUuid = (text: string): boolean => UUID.test(text);
