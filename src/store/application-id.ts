/** What a file of ours says that it is, where SQLite keeps four bytes for that. */
export const applicationIds = {
  /** "tall" in ASCII: what `file` and this program know a tallybook database by. */
  database: 0x74616c6c,
  /** "talm". */
  mirror: 0x74616c6d,
} as const;
