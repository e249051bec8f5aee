/** The application ids of our files: four bytes in which SQLite says what a file is. */
export const applicationIds = {
  /** "tall" in ASCII: `file` and this program recognise a tallybook database by it. */
  database: 0x74616c6c,
  /** "talm". */
  mirror: 0x74616c6d,
} as const;
