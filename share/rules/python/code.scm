;; Code that is made or hidden while a program runs, and walks through objects to what is behind them.

; id: py-exec
; severity: warn
; languages: python
; needs: exec( eval( exec\s( eval\s( compile\s( execfile 'exec' "exec" 'eval' "eval" 'single' "single" builtins.
; message: exec, eval and compile run text as code
; advice: write the code itself; use json.loads or ast.literal_eval for data, a dict of functions to choose by name
(call function: (identifier) @f (#any-of? @f "exec" "eval" "compile" "execfile")) @finding
(call
  function: (attribute object: (identifier) @m attribute: (identifier) @f)
  (#any-of? @m "builtins" "__builtins__")
  (#any-of? @f "exec" "eval" "compile" "__import__")) @finding

; id: py-dynamic-import
; severity: warn
; languages: python
; message: __import__ hides what a program needs
; advice: write an import statement
(call function: (identifier) @f (#eq? @f "__import__")) @finding

; id: py-builtins
; severity: block
; languages: python
; needs: builtins
; message: functions are taken out of __builtins__ by name, which hides what is called
; advice: call the function by its name
(call
  function: (identifier) @f
  arguments: (argument_list . (identifier) @b)
  (#any-of? @f "getattr" "vars" "setattr")
  (#any-of? @b "__builtins__" "builtins")) @finding
(subscript value: (identifier) @b (#eq? @b "__builtins__")) @finding
(attribute object: (identifier) @b attribute: (identifier) @d (#any-of? @b "__builtins__" "builtins") (#eq? @d "__dict__")) @finding
(subscript value: (call function: (identifier) @g) subscript: (string (string_content) @s) (#any-of? @g "globals" "locals" "vars") (#eq? @s "__builtins__")) @finding

; id: py-object-walk
; severity: block
; languages: python
; needs: __subclasses__ __globals__ __builtins__
; message: this walks from an object to all classes there are, as a way out of sandboxes
; advice: leave it out; there is nothing behind it here
(attribute
  object: (_) @object
  attribute: (identifier) @a
  (#any-of? @a "__subclasses__" "__globals__" "__builtins__")
  (#match? @object "__(class|mro|bases?|init|subclasses)__|mro\\(")) @finding

; id: py-frames
; severity: warn
; languages: python
; message: this reaches into the interpreter: frames, code and globals of functions
; advice: pass what is needed as an argument
(attribute
  attribute: (identifier) @a
  (#any-of? @a "__globals__" "__code__" "__closure__" "f_globals" "f_back" "f_locals" "gi_frame" "cr_frame" "tb_frame" "_getframe")) @finding

; id: py-decode-and-run
; severity: block
; languages: python
; message: text is decoded and run as code
; advice: write the code itself, readable
(call
  function: (identifier) @f
  arguments: (argument_list) @args
  (#any-of? @f "exec" "eval" "compile")
  (#match? @args "b64decode|b32decode|b85decode|a85decode|fromhex|unhexlify|codecs\\.decode|decompress|marshal\\.loads|chr\\(|map\\(chr|\\[::-1\\]")) @finding

; id: py-char-codes
; severity: warn
; languages: python
; needs: )+chr( )\s+\schr( map(chr join(chr( join([chr( bytes([ bytearray([
; message: text is spelled in numbers of characters
; advice: write the text itself
((binary_operator) @finding (#match? @finding "^(chr\\([0-9x]+\\) *\\+ *){4,}chr"))
(call
  function: (attribute attribute: (identifier) @join)
  arguments: [(argument_list (call)) (generator_expression)] @args
  (#eq? @join "join")
  (#match? @args "chr")
  (#match? @args "[[(] *([0-9]+ *, *){5,}")) @finding
(call
  function: (identifier) @b
  arguments: (argument_list . (list) @codes)
  (#any-of? @b "bytes" "bytearray")
  (#match? @codes "^\\[([ \n]*[0-9x]+ *,){12,}")) @finding

; id: py-hidden-text
; severity: warn
; languages: python
; needs: \x \u00
; message: ordinary text is spelled in escapes
; advice: write the text itself
((string) @finding (#min-length? @finding "48") (#match? @finding "(\\\\(x|u00)[0-9a-fA-F]{2}){12}"))

; id: py-long-encoded
; severity: warn
; languages: python
; needs: b64decode b32decode b85decode a85decode fromhex unhexlify
; message: a long text is decoded whose content nobody can read
; advice: give data as input or as a file, and code as code
(call
  function: (attribute attribute: (identifier) @f)
  arguments: (argument_list . (string (string_content) @data))
  (#any-of? @f "b64decode" "urlsafe_b64decode" "b32decode" "b85decode" "a85decode" "fromhex" "unhexlify")
  (#min-length? @data "200")
  (#match? @data "^[A-Za-z0-9+/=_-]*$")) @finding

; id: py-pickle
; severity: info
; languages: python
; message: loading a pickle runs what its writer put into it
; advice: use json for data that comes from elsewhere
(call
  function: (attribute object: (identifier) @m attribute: (identifier) @f)
  (#any-of? @m "pickle" "marshal" "shelve" "dill" "cloudpickle")
  (#any-of? @f "load" "loads" "Unpickler" "open")) @finding
