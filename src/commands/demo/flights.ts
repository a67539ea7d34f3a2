import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { projectRoot } from '../../platform/project-root.ts';

/** A real flight of early 2001, as the data set of the package vega-datasets has it. */
export interface Flight {
  /** Place in the data set: the event's transaction id. */
  number: number;
  /** Airport the flight left from: the customer. */
  origin: string;
  destination: string;
  /** Miles. */
  distance: number;
  /** Minutes; negative when early. */
  delay: number;
  leftAt: Temporal.Instant;
}

/** The flights of January and February that left from the `airports` busiest airports, in order of departure. */
export function loadFlights(airports: number): Flight[] {
  // The package exports only its program; the data file is beside it.
  const file = join(projectRoot(), 'node_modules/vega-datasets/data/flights-20k.json');
  const records = JSON.parse(readFileSync(file, 'utf8')) as {
    date: string;
    delay: number;
    distance: number;
    origin: string;
    destination: string;
  }[];
  const end = Temporal.Instant.from('2001-03-01T00:00:00Z');
  const flights = records.map(({ date, ...rest }, number) => ({
    ...rest,
    number,
    leftAt: Temporal.Instant.from(`${date.replaceAll('/', '-').replace(' ', 'T')}:00Z`),
  }));
  const departures = new Map<string, number>();
  for (const { origin } of flights) departures.set(origin, (departures.get(origin) ?? 0) + 1);
  const busiest = new Set(
    [...departures]
      .sort((a, b) => b[1] - a[1])
      .slice(0, airports)
      .map(([origin]) => origin),
  );
  return flights
    .filter((flight) => busiest.has(flight.origin) && Temporal.Instant.compare(flight.leftAt, end) < 0)
    .sort((a, b) => Temporal.Instant.compare(a.leftAt, b.leftAt));
}
