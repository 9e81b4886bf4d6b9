;; What never ends, or takes longer than it looks.

; id: js-endless-loop
; severity: warn
; languages: javascript typescript
; needs: while\s(true while(true while\s(\strue while(\strue while\s(1 while(1 ;; (; ;\s;
; message: the loop has no way out, so the run ends at its time limit
; advice: add a break, a return, or a condition that becomes false
((while_statement
  condition: (parenthesized_expression [(true) (number)] @condition)
  body: (_) @body) @finding
  (#any-of? @condition "true" "1")
  (#lacks? @finding "break_statement" "return_statement" "throw_statement" "await_expression" "yield_expression")
  (#not-inside? @finding "try_statement")
  (#not-match? @body "exit\\(|__return"))
((for_statement
  condition: [(empty_statement) (expression_statement [(true) (number)])] @condition
  body: (_) @body) @finding
  (#any-of? @condition ";" "true;" "1;")
  (#lacks? @finding "break_statement" "return_statement" "throw_statement" "await_expression" "yield_expression")
  (#not-inside? @finding "try_statement")
  (#not-match? @body "exit\\(|__return"))
((do_statement
  body: (_) @body
  condition: (parenthesized_expression [(true) (number)] @condition)) @finding
  (#any-of? @condition "true" "1")
  (#lacks? @finding "break_statement" "return_statement" "throw_statement" "await_expression" "yield_expression")
  (#not-inside? @finding "try_statement")
  (#not-match? @body "exit\\(|__return"))

; id: js-slow-regex
; severity: warn
; languages: javascript typescript
; needs: )+ )* ){0 ){1 ){2 ){3 ){4 ){5 ){6 ){7 ){8 ){9
; message: a quantifier around nothing but quantifiers: matching can take exponential time
; advice: use one quantifier, as in [a-z]+ for ([a-z]+)+, or a separator that must be there between the parts
((regex_pattern) @finding
  (#match? @finding "\\((\\?:)?(\\[[^]]*\\]|\\\\?[^][()\\])[+*]((\\[[^]]*\\]|\\\\?[^][()\\])[?*])*\\)([+*]|\\{[0-9]+,[0-9]*\\})"))
((regex_pattern) @finding
  (#match? @finding "\\((\\?:)?(\\[[^]]*\\]|\\\\?[^][()\\])([?*](\\[[^]]*\\]|\\\\?[^][()\\]))+[+*]\\)[+*]"))
(_
  constructor: (identifier) @f
  arguments: (arguments . (string) @finding)
  (#eq? @f "RegExp")
  (#match? @finding "\\((\\?:)?(\\[[^]]*\\]|\\\\*[^][()\\])[+*]((\\[[^]]*\\]|\\\\*[^][()\\])[?*])*\\)([+*]|\\{[0-9]+,[0-9]*\\})"))
