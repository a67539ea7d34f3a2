/** First 3 letters of the name, `-`, last 4 characters of the id, upper-cased: `ACM-4F2A` (organizations.md). */
export const documentNumberPrefix = (name: string, id: string): string =>
  `${[...name].slice(0, 3).join('')}-${id.slice(-4)}`.toUpperCase();
