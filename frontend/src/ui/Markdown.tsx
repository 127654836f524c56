import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { fileAddress } from "@/api/client";
import { formulasQuery } from "./formulas";
import { mayHaveFormula, toHtml } from "./markdownHtml";
import classes from "./Markdown.module.css";

interface MarkdownProps {
  children: string;
  /** Returns the URL of a stored image. */
  imageSource?: (file: number) => string;
}

/** Markdown text written by users. */
export function Markdown({ children, imageSource = fileAddress }: MarkdownProps) {
  const { data: typeset = null } = useQuery({ ...formulasQuery, enabled: mayHaveFormula(children) });
  const html = useMemo(() => toHtml(children, { imageSource, typeset }), [children, imageSource, typeset]);
  // The renderer escapes all text and writes only its own elements.
  return <div className={classes.markdown} dangerouslySetInnerHTML={{ __html: html }} />;
}
