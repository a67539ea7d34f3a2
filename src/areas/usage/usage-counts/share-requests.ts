import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';

/** A distinct request with the positions of the charges that share it. */
export interface SharedRequest<Request> {
  request: Request;
  askers: { n: number; names: readonly string[] }[];
}

/**
 * Merges equal requests: charges on one metric read its buckets together, whatever properties each distinguishes.
 * `pause` is called between two of them.
 */
export async function shareRequests<Request>(
  asked: readonly { n: number; names: readonly string[]; request: Request }[],
  pause?: Pause,
): Promise<SharedRequest<Request>[]> {
  const shared = new Map<string, SharedRequest<Request>>();
  const share = ({ n, names, request }: (typeof asked)[number]) => {
    const key = JSON.stringify(request);
    const same = shared.get(key);
    if (same) same.askers.push({ n, names });
    else shared.set(key, { request, askers: [{ n, names }] });
  };
  await mapInSlices(asked, share, pause);
  return [...shared.values()];
}

/** Every requested name, sorted. */
export const allNames = <Request>({ askers }: SharedRequest<Request>): string[] =>
  [...new Set(askers.flatMap(({ names }) => names))].sort();
