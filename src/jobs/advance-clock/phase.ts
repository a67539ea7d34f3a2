/**
 * Where an advance stands, stored with the clock so that another worker can go on. At the start what is open is
 * settled; in an instant its jobs run in their order; at the target the marks that the advance left are worked off.
 */
export interface Phase {
  stage: 'start' | 'begun' | 'instant' | 'target';
  /** Job in work; null before the first one of the instant that found something. */
  job: string | null;
  /** Job whose line stands in the timeline already: a repeated job writes none again. */
  told: string | null;
  /** The instant is counted among those with work. */
  counted: boolean;
  /** Marks that requests had set before the advance, by job (test-clocks.md#advancing: they wait for their tick). */
  waiting: Record<string, string[]>;
}

export const START: Phase = { stage: 'start', job: null, told: null, counted: false, waiting: {} };

/** The phase before the first job of a stage. */
export const entering = (stage: Phase['stage'], former: Phase): Phase => ({ ...START, stage, waiting: former.waiting });
