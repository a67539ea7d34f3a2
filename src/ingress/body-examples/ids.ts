/** An identifier as examples show it. */
export const ID = '0192f0c1-6a3b-7c4d-8e5f-102132435465';
