/** Why a request by Amazon's SDK has failed, without what its message tells of the request. */
export function reasonOf(error: unknown): string {
  const { name, code, message } = error as Error & { code?: string };
  // Of the SDK itself, before it asks anybody.
  if (/region is missing/i.test(message)) return 'no region is known, set region';
  return code ?? name;
}
