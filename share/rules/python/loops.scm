;; What never ends, or takes longer than it looks.

; id: py-endless-loop
; severity: warn
; languages: python
; needs: while\sTrue while\s1 while(True while(1 itertools.
; message: the loop has no way out, so the run ends at its time limit
; advice: add a break, a return, or a condition that becomes false
((while_statement
  condition: [(true) (integer)] @condition
  body: (_) @body) @finding
  (#any-of? @condition "True" "1")
  (#lacks? @finding "break_statement" "return_statement" "raise_statement" "assert_statement" "await" "yield")
  (#not-inside? @finding "try_statement")
  (#not-match? @body "exit\\(|next\\(|__return"))
((for_statement
  right: (call function: (_) @f arguments: (argument_list) @args)
  body: (_) @body) @finding
  (#any-of? @f "itertools.count" "itertools.repeat" "itertools.cycle")
  (#not-match? @args ",")
  (#lacks? @finding "break_statement" "return_statement" "raise_statement" "assert_statement" "await" "yield")
  (#not-inside? @finding "try_statement")
  (#not-match? @body "exit\\(|next\\(|__return"))

; id: py-slow-regex
; severity: warn
; languages: python
; needs: )+ )* ){0 ){1 ){2 ){3 ){4 ){5 ){6 ){7 ){8 ){9
; message: a quantifier around nothing but quantifiers: matching can take exponential time
; advice: use one quantifier, as in [a-z]+ for ([a-z]+)+, or a separator that must be there between the parts
(call
  function: (attribute object: (identifier) @re attribute: (identifier) @f)
  arguments: (argument_list . (string) @finding)
  (#any-of? @re "re" "regex")
  (#any-of? @f "compile" "match" "search" "fullmatch" "findall" "finditer" "sub" "subn" "split")
  (#match? @finding "\\((\\?:|\\?P<[a-z_]+>)?(\\[[^]]*\\]|\\\\*[^][()\\])[+*]((\\[[^]]*\\]|\\\\*[^][()\\])[?*])*\\)([+*]|\\{[0-9]+,[0-9]*\\})"))
